use std::{error::Error, fmt, str::FromStr, sync::Arc};

/// Where a turn stands in a distributed trace: W3C Trace Context, level 1.
///
/// An edge reads it from the headers `traceparent` and `tracestate` and puts it into the
/// [extensions](crate::Scope::extensions) of the scope; whoever calls on writes it there. It
/// says nothing about who asks, and nobody may trust it further than a log.
///
/// ```
/// use portcullis::{Scope, TraceContext};
///
/// let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
/// let trace: TraceContext = parent.parse()?;
/// let trace = trace.with_tracestate("congo=t61rcWkgMzE")?;
/// assert_eq!(trace.trace_id(), "4bf92f3577b34da6a3ce929d0e0e4736");
/// assert!(trace.is_sampled());
///
/// let mut scope = Scope::new("s");
/// scope.extensions_mut().insert(trace);
/// let trace = scope.extensions().get::<TraceContext>().expect("put in above");
/// assert_eq!(trace.traceparent(), parent);
/// # Ok::<(), portcullis::TraceContextError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct TraceContext {
    trace_id: [u8; 16],
    parent_id: [u8; 8],
    flags: u8,
    state: Option<Arc<str>>,
}

/// The flag of a trace that somebody records.
const SAMPLED: u8 = 1;
/// `00-` trace `-` parent `-` flags.
const LENGTH: usize = 55;
/// What a later version may append is not read, but it is not endless either.
const MAX_PARENT: usize = 512;
/// What everybody has to pass on, and what we pass on (section 3.3.1.5).
const MAX_STATE: usize = 512;
const MAX_STATE_MEMBERS: usize = 32;

impl TraceContext {
    /// A place in a trace.
    ///
    /// `None` when one of the ids is zero, which names nothing.
    #[must_use]
    pub fn new(trace_id: [u8; 16], parent_id: [u8; 8], sampled: bool) -> Option<Self> {
        (trace_id != [0; 16] && parent_id != [0; 8]).then_some(Self {
            trace_id,
            parent_id,
            flags: if sampled { SAMPLED } else { 0 },
            state: None,
        })
    }

    /// Reads both headers as they came. Without a `traceparent` that can be read there is no
    /// trace; a `tracestate` that cannot be read is left out, as the recommendation has it.
    #[must_use]
    pub fn from_headers(traceparent: &str, tracestate: Option<&str>) -> Option<Self> {
        let context: Self = traceparent.parse().ok()?;
        let Some(state) = tracestate else {
            return Some(context);
        };
        Some(match context.clone().with_tracestate(state) {
            Ok(context) => context,
            Err(_) => context,
        })
    }

    /// Sets what vendors keep: at most 512 bytes and 32 members, each key once. An empty list
    /// removes it.
    ///
    /// # Errors
    /// When it is longer, or no such list.
    pub fn with_tracestate(mut self, state: &str) -> Result<Self, TraceContextError> {
        let state = state.trim_matches(BLANK);
        check_state(state)?;
        self.state = Some(state).filter(|state| !state.is_empty()).map(Arc::from);
        Ok(self)
    }

    /// The trace, as 32 lower case hexadecimal digits.
    #[must_use]
    pub fn trace_id(&self) -> String {
        Hex(&self.trace_id).to_string()
    }

    /// The span that asks, as 16 lower case hexadecimal digits.
    #[must_use]
    pub fn parent_id(&self) -> String {
        Hex(&self.parent_id).to_string()
    }

    /// The trace.
    #[must_use]
    pub const fn trace_id_bytes(&self) -> [u8; 16] {
        self.trace_id
    }

    /// The span that asks.
    #[must_use]
    pub const fn parent_id_bytes(&self) -> [u8; 8] {
        self.parent_id
    }

    /// Whether whoever asks may have recorded the trace.
    #[must_use]
    pub const fn is_sampled(&self) -> bool {
        self.flags & SAMPLED != 0
    }

    /// The value of the header `traceparent`, in version 00.
    #[must_use]
    pub fn traceparent(&self) -> String {
        let (trace, parent) = (Hex(&self.trace_id), Hex(&self.parent_id));
        format!("00-{trace}-{parent}-{:02x}", self.flags)
    }

    /// The value of the header `tracestate`, if there is one.
    #[must_use]
    pub fn tracestate(&self) -> Option<&str> {
        self.state.as_deref()
    }
}

impl FromStr for TraceContext {
    type Err = TraceContextError;

    /// Reads a `traceparent`. A version that is not known yet is read as far as version 00
    /// goes, and written as version 00.
    fn from_str(parent: &str) -> Result<Self, TraceContextError> {
        let bytes = parent.trim_matches(BLANK).as_bytes();
        let dashes = |at: &usize| bytes.get(*at) == Some(&b'-');
        if bytes.len() < LENGTH || bytes.len() > MAX_PARENT || ![2, 35, 52].iter().all(dashes) {
            return Err(TraceContextError(Wrong::Parent));
        }
        let [version] = hex(&bytes[..2])?;
        let more = match version {
            0 => bytes.len() == LENGTH,
            0xff => false,
            _ => bytes.len() == LENGTH || bytes[LENGTH] == b'-',
        };
        let [flags] = hex(&bytes[53..LENGTH])?;
        let context = Self::new(
            hex(&bytes[3..35])?,
            hex(&bytes[36..52])?,
            flags & SAMPLED != 0,
        );
        // Flags that nobody has defined yet are not passed on (section 3.2.2.5.2).
        context
            .filter(|_| more)
            .ok_or(TraceContextError(Wrong::Parent))
    }
}

impl fmt::Debug for TraceContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TraceContext")
            .field(&self.traceparent())
            .finish()
    }
}

/// A `traceparent` or a `tracestate` that is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceContextError(Wrong);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wrong {
    Parent,
    State,
}

impl fmt::Display for TraceContextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Wrong::Parent => "not a traceparent of W3C Trace Context",
            Wrong::State => "not a tracestate of W3C Trace Context, or too long a one",
        })
    }
}

impl Error for TraceContextError {}

const BLANK: [char; 2] = [' ', '\t'];

/// Lower case only: the recommendation refuses the rest.
fn hex<const N: usize>(digits: &[u8]) -> Result<[u8; N], TraceContextError> {
    let value = |digit: u8| match digit {
        b'0'..=b'9' => Ok(digit - b'0'),
        b'a'..=b'f' => Ok(digit - b'a' + 10),
        _ => Err(TraceContextError(Wrong::Parent)),
    };
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = value(pair[0])? << 4 | value(pair[1])?;
    }
    Ok(bytes)
}

struct Hex<'a>(&'a [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Sections 3.3.1.1 to 3.3.1.4.
fn check_state(state: &str) -> Result<(), TraceContextError> {
    let wrong = Err(TraceContextError(Wrong::State));
    if state.len() > MAX_STATE {
        return wrong;
    }
    let mut keys: Vec<&str> = Vec::new();
    for member in state.split(',').map(|member| member.trim_matches(BLANK)) {
        // An empty member is allowed.
        if member.is_empty() {
            continue;
        }
        let Some((key, value)) = member.split_once('=') else {
            return wrong;
        };
        if !is_key(key) || !is_value(value) || keys.contains(&key) {
            return wrong;
        }
        keys.push(key);
    }
    if keys.len() > MAX_STATE_MEMBERS {
        return wrong;
    }
    Ok(())
}

/// `vendor`, or `tenant@vendor`.
fn is_key(key: &str) -> bool {
    let is_name = |name: &str, begins_with_digit: bool, most: usize| {
        let fits = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' | b'*' | b'/');
        name.len() <= most
            && name.bytes().all(fits)
            && name.bytes().next().is_some_and(|first| {
                first.is_ascii_lowercase() || (begins_with_digit && first.is_ascii_digit())
            })
    };
    match key.split_once('@') {
        Some((tenant, vendor)) => is_name(tenant, true, 241) && is_name(vendor, false, 14),
        None => is_name(key, false, 256),
    }
}

/// Printable ASCII without comma and equals sign, at most 256, not ending with a blank.
fn is_value(value: &str) -> bool {
    (1..=256).contains(&value.len())
        && value
            .bytes()
            .all(|byte| matches!(byte, b' '..=b'~') && byte != b',' && byte != b'=')
}
