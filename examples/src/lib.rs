//! Examples and the system under test.
