//! The data model of A2A 1.0 and its JSON form.
