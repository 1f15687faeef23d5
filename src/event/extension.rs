use serde::{Serialize, de::DeserializeOwned, ser::Error};

use super::AgentEvent;
use crate::json::{DecodeError, Json, Members, Writer};

/// An event that the core set does not have. It keeps its tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extension {
    pub(super) type_name: Box<str>,
    pub(super) json: Json,
}

impl Extension {
    /// An event of a type of one's own. `members` is an object with what the event has beside
    /// its type; its text is kept.
    ///
    /// ```
    /// use portcullis::{Extension, Json};
    ///
    /// let event = Extension::new("tickets", &Json::from_text(r#"{"left": 3.0}"#)?)?;
    /// assert_eq!(event.json().as_str(), r#"{"type":"tickets","left": 3.0}"#);
    /// assert!(Extension::new("completed", &Json::from_text("{}")?).is_err());
    /// # Ok::<(), portcullis::DecodeError>(())
    /// ```
    ///
    /// # Errors
    /// When the type is one of the core set, `usage` included; when `members` is no object, has a
    /// member `type`, or a member twice.
    pub fn new(type_name: &str, members: &Json) -> Result<Self, DecodeError> {
        let text = members.as_str();
        let within = |error: DecodeError| error.within("extension event");
        let read = Members::read(text).map_err(within)?;
        if let Some(member) = read.find(b"type") {
            return Err(within(member.unfit("no such member", "one")));
        }
        let mut json = String::new();
        Writer::new(&mut json).type_name(type_name);
        if read.iter().next().is_some() {
            json.push(',');
        }
        json.push_str(text.strip_prefix('{').unwrap_or_default().trim_start());
        Self::not_core(type_name, json).map_err(within)
    }

    /// An event of a type of one's own, from anything that serialises to an object.
    ///
    /// ```
    /// use portcullis::Extension;
    ///
    /// let left = std::collections::BTreeMap::from([("left", 3)]);
    /// let event = Extension::encode("tickets", &left)?;
    /// assert_eq!(event.json().as_str(), r#"{"type":"tickets","left":3}"#);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`new`](Self::new), and when `members` refuses to be serialised or nests deeper
    /// than 128.
    pub fn encode<T: Serialize + ?Sized>(
        type_name: &str,
        members: &T,
    ) -> Result<Self, serde_json::Error> {
        Self::new(type_name, &Json::encode(members)?).map_err(serde_json::Error::custom)
    }

    /// An event of a typed view, see [`ExtensionView`].
    ///
    /// # Errors
    /// As [`encode`](Self::encode).
    pub fn of<V: ExtensionView>(view: &V) -> Result<Self, serde_json::Error> {
        Self::encode(V::TYPE, view)
    }

    /// The event as a typed view: `None` when it is of another type, an error when it has the
    /// name and not the shape. Then it is somebody else's: log it, and let it pass.
    #[must_use]
    pub fn view<V: ExtensionView>(&self) -> Option<Result<V, serde_json::Error>> {
        (*self.type_name == *V::TYPE).then(|| self.json.decode())
    }

    /// The name of the type, unescaped.
    #[must_use]
    pub fn type_name(&self) -> &str {
        &self.type_name
    }

    /// The whole event, `type` included.
    #[must_use]
    pub const fn json(&self) -> &Json {
        &self.json
    }

    /// Text that was read as an event.
    pub(crate) fn checked(type_name: &str, text: &str) -> Self {
        Self {
            type_name: type_name.into(),
            json: Json::checked(text.trim_ascii()),
        }
    }

    fn not_core(type_name: &str, json: String) -> Result<Self, DecodeError> {
        if CORE.contains(&type_name) {
            return Err(DecodeError::new(
                "a type that the core set does not have",
                "one that it has",
            )
            .member_named("type"));
        }
        Ok(Self {
            type_name: type_name.into(),
            json: Json::trusted(json),
        })
    }
}

/// A typed view over the [`Extension`]s of one type: how the set of events grows while the
/// variants of [`AgentEvent`] stay as they are.
///
/// Whoever does not know the view passes the event on untouched. Reading through a view
/// never changes the event; writing one makes a new event, with the members that the
/// view has.
///
/// The well-known ones are in [`views`](crate::views). Any type that serde can
/// read and write as an object may be one more:
///
/// ```
/// use portcullis::{AgentEvent, Extension, ExtensionView};
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize, Debug, PartialEq)]
/// struct Plan {
///     steps: Vec<String>,
/// }
///
/// impl ExtensionView for Plan {
///     const TYPE: &'static str = "plan";
/// }
///
/// let plan = Plan { steps: vec!["look".into(), "leap".into()] };
/// let event = AgentEvent::from(Extension::of(&plan)?);
/// assert_eq!(event.to_json(), r#"{"type":"plan","steps":["look","leap"]}"#);
///
/// let AgentEvent::Extension(event) = event else { unreachable!() };
/// assert_eq!(event.view::<Plan>().transpose()?, Some(plan));
/// # Ok::<(), serde_json::Error>(())
/// ```
pub trait ExtensionView: Serialize + DeserializeOwned {
    /// The name of the type on the wire. A name of the core set makes every
    /// [`Extension::of`] fail.
    const TYPE: &'static str;
}

impl AgentEvent {
    /// The event as a typed view, if it is an [`Extension`] of that type, see
    /// [`Extension::view`].
    #[must_use]
    pub fn view<V: ExtensionView>(&self) -> Option<Result<V, serde_json::Error>> {
        match self {
            Self::Extension(extension) => extension.view(),
            _ => None,
        }
    }
}

/// The types that have a variant of their own.
const CORE: [&str; 8] = [
    "text",
    "thinking",
    "tool_started",
    "tool_ended",
    "retrying",
    "usage",
    "completed",
    "failed",
];
