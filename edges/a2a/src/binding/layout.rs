use crate::model::AgentInterface;

/// Where each binding of a [`OnePort`](super::OnePort) is, and so what the card has to say.
///
/// ```
/// # use portcullis_a2a::{binding::{Layout, OnePort}, model::AgentCard, server::{Executor, Server}};
/// # use portcullis_a2a::{model::TaskState, server::executor_fn};
/// let layout = Layout::new().below("/agents/echo");
/// // As callers see it; a proxy may have another path than the host.
/// let interfaces = layout.interfaces("https://agent.example.com");
/// assert_eq!(interfaces[0].url, "https://agent.example.com/agents/echo");
/// assert_eq!(interfaces[1].url, "https://agent.example.com/agents/echo/rest");
///
/// # let echo = executor_fn(async |ctx, out| { out.emit(ctx.status(TaskState::Completed)).await; });
/// let card = AgentCard::of_interfaces("Echo", "Repeats it.", interfaces);
/// let app = OnePort::with_layout(Server::new(echo, card), &layout);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    base: String,
    json_rpc: String,
    rest: String,
    /// The agent's, where paths tell it from others: gRPC has none.
    name: String,
    #[cfg(feature = "v0_3")]
    v0_3: bool,
}

impl Layout {
    /// JSON-RPC at `/`, HTTP+JSON below `/rest`.
    #[must_use]
    pub fn new() -> Self {
        Self {
            base: String::new(),
            json_rpc: String::new(),
            rest: "/rest".to_owned(),
            name: String::new(),
            #[cfg(feature = "v0_3")]
            v0_3: false,
        }
    }

    /// All of it below a path.
    #[must_use]
    pub fn below(mut self, path: &str) -> Self {
        self.base = clean(path);
        self
    }

    /// One of several [`Agents`](super::Agents): all of it below a path of its name, within the one that
    /// is there, and over gRPC, which has no such paths, in the tenant of its name.
    ///
    /// # Panics
    /// When the name is more than letters, digits, `-`, `.`, `_` and `~`, or nothing.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        let is_name = !name.is_empty() && name.bytes().all(is_plain) && !matches!(name, "." | "..");
        assert!(is_name, "no segment of a path: {name:?}");
        self.base = format!("{}/{name}", self.base);
        name.clone_into(&mut self.name);
        self
    }

    /// JSON-RPC at another path.
    #[must_use]
    pub fn json_rpc_at(mut self, path: &str) -> Self {
        self.json_rpc = clean(path);
        self
    }

    /// HTTP+JSON below another path. It may be the root.
    #[must_use]
    pub fn rest_at(mut self, path: &str) -> Self {
        self.rest = clean(path);
        self
    }

    /// Version 0.3 too, on both bindings in JSON: the card names them, and what it names is spoken.
    #[cfg(feature = "v0_3")]
    #[cfg_attr(docsrs, doc(cfg(feature = "v0_3")))]
    #[must_use]
    pub const fn with_v0_3(mut self) -> Self {
        self.v0_3 = true;
        self
    }

    /// The interfaces for the card, preferred first. `url` is where callers reach the host: it is
    /// configured and never guessed from a request (O-C03). That of gRPC, with feature `grpc`,
    /// has a host and a port and no path. Those of version 0.3 are the last.
    #[must_use]
    #[cfg_attr(
        not(any(feature = "grpc", feature = "v0_3")),
        expect(unused_mut, reason = "those in JSON are all")
    )]
    pub fn interfaces(&self, url: &str) -> Vec<AgentInterface> {
        let url = url.trim_end_matches('/');
        let in_json = [
            AgentInterface::json_rpc(format!("{url}{}", self.json_rpc())),
            AgentInterface::rest(format!("{url}{}", self.rest())),
        ];
        let mut interfaces = in_json.to_vec();
        #[cfg(feature = "grpc")]
        interfaces.push(AgentInterface::grpc(authority(url)).in_tenant(&*self.name));
        #[cfg(feature = "v0_3")]
        if self.v0_3 {
            interfaces.extend(in_json.map(|interface| interface.with_version("0.3")));
        }
        interfaces
    }

    pub(super) fn base(&self) -> &str {
        &self.base
    }

    pub(super) fn json_rpc(&self) -> String {
        format!("{}{}", self.base, self.json_rpc)
    }

    pub(super) fn rest(&self) -> String {
        format!("{}{}", self.base, self.rest)
    }
}

impl Default for Layout {
    fn default() -> Self {
        Self::new()
    }
}

/// The `host:port` of a URL (A2A-GRPC-6).
#[cfg(feature = "grpc")]
fn authority(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("https", url));
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let has_port = authority
        .rsplit_once(':')
        .is_some_and(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()));
    match scheme {
        _ if has_port => authority.to_owned(),
        "http" => format!("{authority}:80"),
        _ => format!("{authority}:443"),
    }
}

/// With a slash before it and none behind; empty for the root.
fn clean(path: &str) -> String {
    match path.trim_matches('/') {
        "" => String::new(),
        path => format!("/{path}"),
    }
}
