//! A2A 1.0 for agents that are tower services: model, server, client, bindings.
