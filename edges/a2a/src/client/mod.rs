//! Calling an agent that somebody else serves.
