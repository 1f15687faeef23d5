use http::Method;

use crate::{
    model::{Error, Operation},
    wire::{Place, Segment, Verb, decode_segment},
};

/// Where a request goes. Values are as the path has them: escaped.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Route<'a> {
    place: Place,
    tenant: Option<&'a str>,
    /// The members that the path holds.
    members: Vec<(&'static str, &'a str)>,
}

impl<'a> Route<'a> {
    /// The route of what follows the endpoint in a path.
    pub(super) fn of(path: &'a str) -> Option<Self> {
        let segments: Vec<_> = path.strip_prefix('/')?.split('/').take(MOST).collect();
        // A tenant may not have the name of a route (A2A-REST-9), so what begins with one has no
        // tenant before it.
        if let Some(route) = Self::after(None, &segments) {
            return Some(route);
        }
        let (tenant, segments) = segments.split_first()?;
        let is_literal = |place: Place| match place.segments()[0] {
            Segment::Literal(literal) => decode_segment(tenant).as_deref() == Some(literal),
            _ => false,
        };
        if tenant.is_empty() || Place::ALL.into_iter().any(is_literal) {
            return None;
        }
        Self::after(Some(tenant), segments)
    }

    /// The route of version 0.3: below `/v1`, without tenants and without a list of tasks.
    #[cfg(feature = "v0_3")]
    pub(super) fn of_v0_3(path: &'a str) -> Option<Self> {
        let path = path.strip_prefix("/v1")?;
        if path == "/card" {
            return Some(Self {
                place: Place::ExtendedCard,
                tenant: None,
                members: Vec::new(),
            });
        }
        let segments: Vec<_> = path.strip_prefix('/')?.split('/').take(MOST).collect();
        Self::after(None, &segments)
            .filter(|route| !matches!(route.place, Place::Tasks | Place::ExtendedCard))
    }

    fn after(tenant: Option<&'a str>, segments: &[&'a str]) -> Option<Self> {
        Place::ALL.into_iter().find_map(|place| {
            let members = members(place.segments(), segments)?;
            Some(Self {
                place,
                tenant,
                members,
            })
        })
    }

    /// The operation that a verb means there.
    pub(super) fn operation(&self, method: &Method) -> Option<Operation> {
        self.operations()
            .find(|operation| verbs(*operation).any(|verb| verb == *method))
    }

    /// The verbs that there are, for a head.
    pub(super) fn allow(&self) -> String {
        let mut allow = Vec::new();
        for verb in self.operations().flat_map(verbs) {
            if !allow.contains(&verb) {
                allow.push(verb);
            }
        }
        let allow: Vec<_> = allow.iter().map(Method::as_str).collect();
        allow.join(", ")
    }

    fn operations(&self) -> impl Iterator<Item = Operation> + use<> {
        let place = self.place;
        Operation::ALL
            .into_iter()
            .filter(move |operation| Place::of(*operation) == place)
    }

    /// The tenant that the path names.
    pub(super) fn tenant(&self) -> Result<Option<String>, Error> {
        self.tenant
            .map(|tenant| decoded("tenant", tenant))
            .transpose()
    }

    /// The members that the path holds, and their values.
    pub(super) fn members(&self) -> Result<Vec<(&'static str, String)>, Error> {
        self.members
            .iter()
            .map(|(name, value)| Ok((*name, decoded(name, value)?)))
            .collect()
    }
}

fn decoded(name: &str, value: &str) -> Result<String, Error> {
    decode_segment(value).ok_or_else(|| Error::invalid_param(name, "must be percent-encoded UTF-8"))
}

fn verbs(operation: Operation) -> impl Iterator<Item = Method> {
    Verb::of(operation).iter().map(|verb| verb.method())
}

/// The values of a path, if it is of this form. Suffixes are looked for before escapes are undone:
/// an id may hold an escaped colon (A2A-REST-4).
fn members<'a>(form: &[Segment], path: &[&'a str]) -> Option<Vec<(&'static str, &'a str)>> {
    if form.len() != path.len() {
        return None;
    }
    let mut members = Vec::new();
    for (form, segment) in form.iter().zip(path) {
        match form {
            Segment::Literal(literal) => {
                (decode_segment(segment).as_deref() == Some(literal)).then_some(())?;
            }
            Segment::Member(name) => members.push((*name, *segment)),
            Segment::MemberThen(name, suffix) => {
                members.push((*name, segment.strip_suffix(suffix)?));
            }
        }
    }
    Some(members)
}

/// More segments than any route has, its tenant included: one more makes it none.
const MOST: usize = 6;
