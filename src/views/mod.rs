//! Typed views over well-known extension events.
//!
//! An engine that makes such an event makes it through the view, and an edge or a terminal that
//! shows it reads it through the view. Everybody between passes it on. See
//! [`ExtensionView`](crate::ExtensionView) for views of one's own.
//!
//! ```
//! use portcullis::{AgentEvent, views::Citation};
//!
//! let mut citation = Citation::new("https://example.org/tower");
//! citation.title = Some("The tower".into());
//! let event = AgentEvent::from(citation.clone());
//! assert_eq!(
//!     event.to_json(),
//!     r#"{"type":"citation","url":"https://example.org/tower","title":"The tower"}"#,
//! );
//! assert_eq!(event.view::<Citation>().transpose()?, Some(citation));
//! # Ok::<(), serde_json::Error>(())
//! ```

mod artifact;
mod ask;
mod citation;
mod field;
mod follow_up;
mod lagged;
mod level;
mod view;

use self::view::view;

pub use self::{
    artifact::{Artifact, ArtifactContent},
    ask::{AuthRequired, InputRequired},
    citation::Citation,
    follow_up::FollowUp,
    lagged::Lagged,
    level::{Budget, Context},
};
