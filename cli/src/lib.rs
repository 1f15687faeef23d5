//! The program `portcullis`.
