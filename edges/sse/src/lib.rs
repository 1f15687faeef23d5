//! Server-sent events: a [`Parser`] that is fed with chunks, and an [`Encoder`] of one frame.
//!
//! Both do no I/O and know nothing of HTTP, of JSON or of a runtime. They follow the
//! [grammar of the WHATWG](https://html.spec.whatwg.org/multipage/server-sent-events.html).
//!
//! ```
//! use portcullis_sse::{Encoder, Limits, Parser};
//!
//! let bytes = Encoder::new().id(7).text("two\nlines");
//! assert_eq!(bytes, b"id: 7\ndata: two\ndata: lines\n\n");
//!
//! let mut parser = Parser::new(Limits::new());
//! let (first, second) = bytes.split_at(9); // in whatever pieces
//! assert_eq!(parser.next(&mut &first[..])?, None);
//! let frame = parser.next(&mut &second[..])?.expect("whole now");
//! assert_eq!(frame.data, b"two\nlines");
//! assert_eq!(frame.id.as_deref(), Some("7"));
//! # Ok::<(), portcullis_sse::TooLong>(())
//! ```
#![cfg_attr(docsrs, feature(doc_cfg))]

mod encoder;
mod limits;
mod parser;

pub use self::{
    encoder::Encoder,
    limits::{Bound, Limits, TooLong},
    parser::{Frame, Parser},
};
