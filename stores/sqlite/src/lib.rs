//! SQLite implementations of the stores of Portcullis.
