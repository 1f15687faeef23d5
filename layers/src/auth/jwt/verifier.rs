use std::{
    error::Error,
    fmt,
    net::IpAddr,
    pin::Pin,
    str::FromStr,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use http::Uri;
use jsonwebtoken::{
    Algorithm, DecodingKey, Validation, decode,
    errors::{Error as JwtError, ErrorKind},
};
use portcullis::{Json, Principal};
use serde_json::value::RawValue;

use super::{
    Family, Jwks,
    cache::{Cache, Step},
    claims::{Claims, Head, issuer},
    fetch::FetchError,
    jwks::Source,
    key_set::{BadKeySet, Found, KeySet},
    provider,
};
use crate::auth::{AuthError, Credentials, Identity, Scheme, Verifier};

/// No token is longer.
const MAX_TOKEN: usize = 16 << 10;
const MAX_SKEW: Duration = Duration::from_secs(300);

/// Verifies bearer tokens that are JWTs of one issuer.
///
/// A token has to be signed by a key of the issuer with an algorithm of the pinned
/// [`Family`], and to have these claims: `iss`, the issuer; `aud`, with the audience
/// among them; `exp`, in the future; `sub`; and `nbf`, if it is there, in the past. Tokens of
/// another issuer are not recognised, so that [several](Verifier::or) can be trusted:
///
/// ```
/// # use std::convert::Infallible;
/// # use http::{Request, Response};
/// # use http_body_util::{Empty, Full};
/// # use bytes::Bytes;
/// use portcullis_layers::auth::{AuthLayer, Family, Jwks, Jwt, Verifier};
///
/// # fn app<C>(client: C) -> Result<(), Box<dyn std::error::Error>>
/// # where
/// #     C: tower::Service<Request<Empty<Bytes>>, Response = Response<Full<Bytes>>, Error = Infallible>
/// #         + Clone + Send + Sync + 'static,
/// #     C::Future: Send,
/// # {
/// let people = Jwt::new(
///     "https://login.example.com",
///     "https://agent.example.com",
///     Family::Rsa,
///     Jwks::fetched("https://login.example.com/jwks.json".parse()?, client.clone()),
/// )?;
/// let machines = Jwt::new(
///     "https://machines.example.com",
///     "https://agent.example.com",
///     Family::Ec,
///     Jwks::fetched("https://machines.example.com/jwks.json".parse()?, client),
/// )?
/// .kind("service");
/// let layer = AuthLayer::new(people.or(machines)).require_scopes(["agent"]);
/// # let _ = layer; Ok(())
/// # }
/// ```
///
/// The principal is of kind `user`, or what [`kind`](Self::kind) says; its issuer is `iss` and its
/// subject `sub`. The scopes are those of `scope`, or else `scp`. All claims are in
/// [`Identity::claims`].
///
/// A clone shares the keys. Verifying makes `jsonwebtoken` use `ring` in this process, unless
/// another provider was chosen before.
#[derive(Clone)]
pub struct Jwt {
    rules: Arc<Rules>,
    keys: KeySource,
}

#[derive(Clone)]
struct Rules {
    issuer: String,
    kind: String,
    validation: Validation,
}

#[derive(Clone)]
enum KeySource {
    Fixed(Arc<KeySet>),
    Fetched(Cache),
}

impl Jwt {
    /// Trusts one issuer to say who somebody is, to one audience: the name of this service there.
    ///
    /// # Errors
    /// When issuer or audience is empty, when fixed keys have none of the family, or when the
    /// address of the keys is not `https`, nor `http` to this host.
    pub fn new(
        issuer: impl Into<String>,
        audience: impl Into<String>,
        family: Family,
        keys: Jwks,
    ) -> Result<Self, InvalidJwt> {
        let (issuer, audience) = (issuer.into(), audience.into());
        if issuer.is_empty() || audience.is_empty() {
            return Err(InvalidJwt(Fault::Empty));
        }
        let keys = match keys.0 {
            Source::Fixed(json) => {
                let set = KeySet::parse(json.as_bytes(), family).map_err(Fault::Keys);
                KeySource::Fixed(Arc::new(set.map_err(InvalidJwt)?))
            }
            Source::Fetched { uri, .. } if !is_trusted(&uri) => {
                return Err(InvalidJwt(Fault::Address));
            }
            Source::Fetched { fetch, .. } => KeySource::Fetched(Cache::new(fetch, family)),
        };
        provider::install();
        let mut validation = Validation::new_for_family(family.theirs());
        // Else a token without an audience would be good for every one.
        validation.set_required_spec_claims(&["exp", "aud", "iss", "sub"]);
        validation.set_audience(&[&audience]);
        validation.set_issuer(&[&issuer]);
        validation.validate_nbf = true;
        validation.leeway = 30;
        let rules = Rules {
            issuer,
            kind: "user".to_owned(),
            validation,
        };
        Ok(Self {
            rules: Arc::new(rules),
            keys,
        })
    }

    fn rules(mut self, change: impl FnOnce(&mut Rules)) -> Self {
        change(Arc::make_mut(&mut self.rules));
        self
    }

    /// How far the clock of the issuer may be off, for `exp` and `nbf`, in whole seconds. The
    /// default is 30 seconds.
    ///
    /// # Errors
    /// When it is more than five minutes: then clocks are not what is wrong.
    pub fn clock_skew(self, skew: Duration) -> Result<Self, InvalidJwt> {
        if skew > MAX_SKEW {
            return Err(InvalidJwt(Fault::Skew));
        }
        Ok(self.rules(|rules| rules.validation.leeway = skew.as_secs()))
    }

    /// The kind of the principals.
    #[must_use]
    pub fn kind(self, kind: impl Into<String>) -> Self {
        self.rules(|rules| rules.kind = kind.into())
    }

    async fn check(self, credentials: Credentials) -> Result<Identity, AuthError> {
        let token = credentials.secret();
        if credentials.scheme() != Scheme::Bearer || token.len() > MAX_TOKEN {
            return Err(AuthError::unrecognized());
        }
        if issuer(token).is_none_or(|issuer| issuer != self.rules.issuer) {
            return Err(AuthError::unrecognized());
        }
        let head = Head::of(token).ok_or_else(|| AuthError::invalid("the token is not valid"))?;
        let algorithm = Algorithm::from_str(&head.alg)
            .ok()
            .filter(|algorithm| self.rules.validation.algorithms.contains(algorithm))
            .ok_or_else(|| AuthError::invalid(ALGORITHM))?;
        let id = head.kid.as_deref();
        let cache = match &self.keys {
            KeySource::Fixed(set) => return self.rules.verify_with(set, id, algorithm, token),
            KeySource::Fetched(cache) => cache,
        };
        let set = loop {
            match cache.keys() {
                Step::Use(set) => break set,
                // Whether it went well is asked again above.
                Step::Wait(fetch) => drop(fetch.await),
                Step::Unavailable(error, after) => return Err(unavailable(error, after)),
            }
        };
        if !matches!(set.find(id, algorithm), Found::Unknown) {
            return self.rules.verify_with(&set, id, algorithm, token);
        }
        let set = match cache.newer(&set) {
            None => return Err(AuthError::invalid(UNKNOWN_KEY)),
            Some(Step::Use(newer)) => newer,
            Some(Step::Wait(fetch)) => fetch
                .await
                .map_err(|error| unavailable(error, Cache::AFTER_FAILURE))?,
            Some(Step::Unavailable(error, after)) => return Err(unavailable(error, after)),
        };
        self.rules.verify_with(&set, id, algorithm, token)
    }
}

impl Rules {
    fn verify_with(
        &self,
        set: &KeySet,
        id: Option<&str>,
        algorithm: Algorithm,
        token: &str,
    ) -> Result<Identity, AuthError> {
        match set.find(id, algorithm) {
            Found::Key(key) => self.verify(key, algorithm, token),
            Found::Unknown => Err(AuthError::invalid(UNKNOWN_KEY)),
            Found::Ambiguous => Err(AuthError::invalid(
                "the token does not say which key signed it",
            )),
        }
    }

    fn verify(
        &self,
        key: &DecodingKey,
        algorithm: Algorithm,
        token: &str,
    ) -> Result<Identity, AuthError> {
        let malformed = || AuthError::invalid("the token is not valid");
        // The very algorithm that the key was chosen for.
        let mut validation = self.validation.clone();
        validation.algorithms = vec![algorithm];
        let decoded =
            decode::<Box<RawValue>>(token, key, &validation).map_err(|error| invalid(&error))?;
        // A member that is there twice has a second meaning for the next reader.
        let json = Json::from(decoded.claims);
        let json = Json::from_text(json.as_str()).map_err(|_| malformed())?;
        let claims: Claims = json.decode().map_err(|_| malformed())?;
        let principal = Principal::new(&*self.kind, &*self.issuer, &*claims.sub);
        Ok(Identity::new(principal)
            .with_scopes(claims.scopes())
            .with_claims(json))
    }
}

const ALGORITHM: &str = "the token's algorithm is not accepted";
const UNKNOWN_KEY: &str = "the token's key is not known";

/// Our words: those of the library may hold some of the token.
fn invalid(error: &JwtError) -> AuthError {
    AuthError::invalid(match error.kind() {
        ErrorKind::ExpiredSignature => "the token has expired",
        ErrorKind::ImmatureSignature => "the token is not valid yet",
        ErrorKind::InvalidAudience => "the token is for somebody else",
        ErrorKind::InvalidSignature => "the token's signature is wrong",
        ErrorKind::InvalidAlgorithm => ALGORITHM,
        ErrorKind::MissingRequiredClaim(_) => {
            "the token lacks one of the claims exp, aud, iss and sub"
        }
        _ => "the token is not valid",
    })
}

fn unavailable(error: FetchError, after: Duration) -> AuthError {
    AuthError::unavailable().retry_after(after).caused_by(error)
}

/// Keys that come over an open line could be anybody's.
fn is_trusted(uri: &Uri) -> bool {
    let Some(host) = uri.host() else {
        return false;
    };
    match uri.scheme_str() {
        Some("https") => true,
        Some("http") => {
            host == "localhost"
                || host
                    .trim_matches(['[', ']'])
                    .parse()
                    .is_ok_and(|address: IpAddr| address.is_loopback())
        }
        _ => false,
    }
}

impl Verifier for Jwt {
    type Verify = VerifyJwt;

    fn verify(&self, credentials: &Credentials) -> VerifyJwt {
        VerifyJwt(Box::pin(self.clone().check(credentials.clone())))
    }
}

impl fmt::Debug for Jwt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Jwt")
            .field("issuer", &self.rules.issuer)
            .field("audience", &self.rules.validation.aud)
            .field("algorithms", &self.rules.validation.algorithms)
            .finish_non_exhaustive()
    }
}

/// The decision of a [`Jwt`]. Without waiting where the keys are there.
///
/// # Cancel safety
///
/// Dropping it withdraws the question. A fetch of keys that others wait for as well goes on.
#[must_use = "futures do nothing unless polled"]
pub struct VerifyJwt(Pin<Box<dyn Future<Output = Result<Identity, AuthError>> + Send>>);

impl Future for VerifyJwt {
    type Output = Result<Identity, AuthError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.as_mut().poll(cx)
    }
}

impl fmt::Debug for VerifyJwt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VerifyJwt").finish_non_exhaustive()
    }
}

/// Why a [`Jwt`] cannot be made.
#[derive(Debug)]
pub struct InvalidJwt(Fault);

#[derive(Debug)]
enum Fault {
    Empty,
    Skew,
    Address,
    Keys(BadKeySet),
}

impl fmt::Display for InvalidJwt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match &self.0 {
            Fault::Empty => "an issuer and an audience are needed",
            Fault::Skew => "a clock skew of more than 300 seconds",
            Fault::Address => "the address of the keys is neither https nor this host",
            Fault::Keys(_) => "the fixed keys cannot be used",
        })
    }
}

impl Error for InvalidJwt {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.0 {
            Fault::Keys(error) => Some(error),
            _ => None,
        }
    }
}
