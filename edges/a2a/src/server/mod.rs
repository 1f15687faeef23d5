//! The operations of a server, without any wire.
