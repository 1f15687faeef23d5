//! The session that an agent sees, for edges.
//!
//! Every edge lets its callers name their conversations, and each has to keep them apart by who
//! calls. That they all do it in this one way lets a conversation go on through another edge.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod key;

pub use self::key::{RESERVED_PREFIX, session_key};
