//! Layers for agents that are tower services: limits, time-outs, budgets, retries, tracing.
