use std::{fmt, sync::Arc, time::Duration};

use super::{
    Action, Channel, Denied, GuardError, Matcher, Unknown,
    channel::Channels,
    error::Why,
    pattern::{LONGEST, Pattern},
    scan::{Compiled, Finder},
    secrets::SECRETS,
    tools::Tools,
};

/// What a guard looks for, where, and what it does then.
///
/// Where several rules match at the same place, the one that was added first wins. What is
/// matched does not overlap, and what a rule puts in is not looked at again.
#[derive(Clone)]
#[must_use]
pub struct Rules {
    rules: Vec<(Source, Action)>,
    channels: Channels,
    unknown: Unknown,
    tools: Tools,
    max_hold: Option<Duration>,
}

#[derive(Clone)]
enum Source {
    Regex(String, Option<usize>),
    Matcher(Arc<dyn Matcher>),
}

impl Rules {
    /// No rule; all channels.
    pub const fn new() -> Self {
        Self {
            rules: Vec::new(),
            channels: Channels::ALL,
            unknown: Unknown::Scan,
            tools: Tools {
                allowed: None,
                denied: Vec::new(),
                then: Denied::Fail,
            },
            max_hold: None,
        }
    }

    /// A regular expression, in the syntax of the crate `regex`, whose matches have a bounded
    /// length.
    pub fn regex(self, pattern: impl Into<String>, action: Action) -> Self {
        self.rule(Source::Regex(pattern.into(), None), action)
    }

    /// A regular expression, and how many bytes a match may have.
    ///
    /// What would match more is matched as far as this: the guard sees what the expression
    /// finds in that many bytes. So a longer secret may leave a tail; be generous.
    pub fn regex_within(self, pattern: impl Into<String>, bytes: usize, action: Action) -> Self {
        self.rule(Source::Regex(pattern.into(), Some(bytes)), action)
    }

    /// A matcher of your own.
    pub fn matcher(self, matcher: impl Matcher, action: Action) -> Self {
        self.rule(Source::Matcher(Arc::new(matcher)), action)
    }

    /// What common secrets look like: access keys of AWS, tokens of GitHub and Slack, keys
    /// that begin with `sk-` or `sk_live_`, bearer tokens, JSON Web Tokens, private keys in
    /// PEM of at most 8 KiB. Seven rules; the longest holds back at most 8.5 KB.
    ///
    /// A net under a mistake, not a proof: what has no such form passes.
    pub fn secrets(self, action: &Action) -> Self {
        SECRETS
            .into_iter()
            .fold(self, |rules, secret| rules.regex(secret, action.clone()))
    }

    fn rule(mut self, source: Source, action: Action) -> Self {
        self.rules.push((source, action));
        self
    }

    /// Looks only at these channels.
    pub fn only(mut self, channels: impl IntoIterator<Item = Channel>) -> Self {
        let channels = channels.into_iter();
        self.channels = channels.fold(Channels::NONE, Channels::with);
        self
    }

    /// Does not look at this channel.
    pub const fn without(mut self, channel: Channel) -> Self {
        self.channels = self.channels.without(channel);
        self
    }

    /// What happens to unknown events, and to unknown members of known ones.
    pub const fn unknown(mut self, unknown: Unknown) -> Self {
        self.unknown = unknown;
        self
    }

    /// Only these tools are allowed: names, with `*` for any text. None at all, if the list is
    /// empty. Called again it allows more.
    pub fn allow_tools<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        let allowed = self.tools.allowed.get_or_insert_default();
        allowed.extend(names.into_iter().map(Into::into));
        self
    }

    /// These tools are not allowed, even if another list allows them.
    pub fn deny_tools<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.tools.denied.extend(names.into_iter().map(Into::into));
        self
    }

    /// What happens to a tool that is not allowed.
    pub const fn denied(mut self, then: Denied) -> Self {
        self.tools.then = then;
        self
    }

    /// How long text may be held back while the agent is silent. Without it: until something
    /// comes.
    ///
    /// **What is held back then leaves, although it may be the beginning of a match.** If the
    /// match is completed later, only its rest is masked; a rule that stops still stops.
    pub const fn max_hold(mut self, time: Duration) -> Self {
        self.max_hold = Some(time);
        self
    }

    pub(super) fn ready(self) -> Result<Ready, GuardError> {
        let fail = |why| Err(GuardError::of(why));
        let unknown = self.unknown;
        if self.rules.is_empty() && self.tools.is_empty() && unknown != Unknown::Block {
            return fail(Why::Inert);
        }
        if !self.rules.is_empty() && self.channels.is_empty() && unknown != Unknown::Scan {
            return fail(Why::NoChannel);
        }
        let streams = self.channels.has(Channel::Text) || self.channels.has(Channel::Thinking);
        if self.max_hold.is_some() && (self.rules.is_empty() || !streams) {
            return fail(Why::NothingHeld);
        }
        if self.rules.len() > 64 {
            return fail(Why::TooManyRules);
        }
        let mut finders = Vec::with_capacity(self.rules.len());
        for (rule, (source, action)) in self.rules.into_iter().enumerate() {
            let finder = match source {
                Source::Regex(pattern, bound) => {
                    let pattern = Pattern::new(&pattern, bound).map_err(|why| {
                        let rule = Some(rule);
                        GuardError { rule, why }
                    })?;
                    Finder::Pattern(Box::new(pattern))
                }
                Source::Matcher(matcher) if (1..=LONGEST).contains(&matcher.longest()) => {
                    Finder::Matcher(matcher)
                }
                Source::Matcher(matcher) => {
                    let why = match matcher.longest() {
                        0 => Why::Never,
                        _ => Why::TooLong,
                    };
                    let rule = Some(rule);
                    return Err(GuardError { rule, why });
                }
            };
            finders.push((finder, action));
        }
        Ok(Ready {
            compiled: Compiled::new(finders),
            channels: self.channels,
            unknown,
            tools: self.tools,
            max_hold: self.max_hold,
        })
    }
}

impl Default for Rules {
    fn default() -> Self {
        Self::new()
    }
}

/// Without patterns: one may be a secret itself.
impl fmt::Debug for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rules")
            .field("rules", &self.rules.len())
            .field("channels", &self.channels)
            .field("unknown", &self.unknown)
            .field("tools", &self.tools)
            .field("max_hold", &self.max_hold)
            .finish()
    }
}

/// Rules that make sense.
pub(super) struct Ready {
    pub(super) compiled: Compiled,
    pub(super) channels: Channels,
    pub(super) unknown: Unknown,
    pub(super) tools: Tools,
    pub(super) max_hold: Option<Duration>,
}
