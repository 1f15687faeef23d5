//! Lets only those in who are known, and may: API keys, JWTs, or a function of yours.
//!
//! # When
//!
//! In front of every agent that not everybody may use. Whatever counts by principal, limits and
//! budgets and the tasks of an edge, needs it.
//!
//! # One verifier, two places
//!
//! A [`Verifier`] turns [`Credentials`] into an [`Identity`]: [`ApiKeys`], `Jwt` (feature
//! `auth-jwt`), [`verify_fn`], or several [one after the other](Verifier::or).
//!
//! - [`AuthLayer`] is in front of an agent. It takes the credentials out of the scope's typed
//!   map, where an edge or a program has put them, and sets
//!   [`Scope::principal`](portcullis::Scope::principal); or it only [demands](AuthLayer::demand)
//!   that somebody has set it. The identity is in the typed map for the layers below.
//! - `HttpAuthLayer` (feature `auth-http`) is in front of a service of HTTP requests. It answers
//!   401 with a challenge, 403 where scopes are missing, and puts the principal into the
//!   extensions of the request, where an edge takes it from.
//!
//! Behind an HTTP layer `AuthLayer::demand()` is the second lock: a turn that came in by another
//! door is refused.
//!
//! # Where
//!
//! Outside of all but [`catch`](crate::catch): a span and a receipt know who asked, and who is
//! not let in costs nothing. It is always ready, and makes the agent ready and calls it only
//! when the turn is let in.
//!
//! # How it ends
//!
//! Nobody known: `failed{unauthenticated}`. Known, and may not: `failed{permission_denied}`. Nobody
//! can tell, since the keys cannot be had: `failed{unavailable, retryable}`. The agent is not
//! called in any of these. Once let in, the turn is the agent's: all events and each end pass as
//! they are, a bare end and a panic too. A turn that is dropped while it waits withdraws the
//! question. A panic of a verifier or a rule passes to the caller, or to `catch`.
//!
//! What it costs is once a turn; an event costs what an empty layer does.
//!
//! # Secrets
//!
//! They are wiped when dropped, and are in no log, `Debug` output, error or event. The credentials
//! end here, unless [`keep_credentials`](AuthLayer::keep_credentials) hands them to the agent. A
//! principal that a request claims for itself counts for nothing; a scope that came over a wire has none.
//!
//! # Cousins
//!
//! tower-http's `ValidateRequest` and `AsyncAuthorizeRequest` are about HTTP only, and leave
//! whoever comes after to find out who asks.
//!
//! # MUST 6
//!
//! Portable: it keeps nothing about a turn or a session. Processes that read the same file or
//! trust the same issuer let the same callers in.
//!
//! # Examples
//!
//! ```
//! use portcullis::{AgentEvent, AgentExt, Prompt, Scope, agent_fn, collect};
//! use portcullis_layers::auth::{ApiKeys, AuthLayer, Credentials, NewApiKey};
//! use tower::ServiceBuilder;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let key = NewApiKey::generate("alice", ["read"])?;
//! let keys = ApiKeys::from_text(key.line())?; // or `ApiKeys::open("keys.txt")?`
//! let engine = agent_fn(async |scope: Scope, _prompt: Prompt, out| {
//!     let who = scope.principal().expect("the layer sets it").subject();
//!     out.emit(AgentEvent::text(format!("hello, {who}"))).await;
//!     Ok(())
//! });
//! let agent = ServiceBuilder::new().layer(AuthLayer::new(keys)).service(engine);
//!
//! let mut scope = Scope::new("s");
//! scope.extensions_mut().insert(Credentials::bearer(key.reveal()));
//! assert_eq!(collect(agent.invoke(scope, Prompt::text("hi"))).await?.text, "hello, alice");
//! // Without a key there is no answer.
//! assert!(collect(agent.invoke(Scope::new("s"), Prompt::text("hi"))).await.is_err());
//! # Ok(())
//! # }
//! ```
//!
//! With rules: a scope for all, and a word that only some may say.
//!
//! ```
//! # use portcullis::{AgentExt, Prompt, Scope, agent_fn, collect};
//! # use portcullis_layers::auth::{ApiKeys, AuthLayer, Credentials, Identity, NewApiKey};
//! # use tower::ServiceBuilder;
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let key = NewApiKey::generate("alice", ["read"])?;
//! # let keys = ApiKeys::from_text(key.line())?;
//! # let engine = agent_fn(async |_scope: Scope, _prompt: Prompt, _out| Ok(()));
//! let agent = ServiceBuilder::new()
//!     .layer(AuthLayer::new(keys).require_scopes(["read"]))
//!     .layer(AuthLayer::demand().authorize_if(|who: &Identity, _scope: &Scope, prompt: &Prompt| {
//!         !prompt.as_text().contains("deploy") || who.has_scope("deploy")
//!     }))
//!     .service(engine);
//! # let mut scope = Scope::new("s");
//! # scope.extensions_mut().insert(Credentials::bearer(key.reveal()));
//! # assert!(collect(agent.invoke(scope.clone(), Prompt::text("read"))).await.is_ok());
//! # assert!(collect(agent.invoke(scope, Prompt::text("deploy"))).await.is_err());
//! # Ok(())
//! # }
//! ```

mod admit;
mod api_keys;
mod authorize;
mod credentials;
mod error;
mod establish;
mod first_of;
#[cfg(feature = "auth-http")]
mod http;
mod identity;
#[cfg(feature = "auth-jwt")]
mod jwt;
mod layer;
mod verifier;
mod verify_fn;

#[cfg(feature = "auth-http")]
#[cfg_attr(docsrs, doc(cfg(feature = "auth-http")))]
pub use self::http::{Challenge, HttpAuth, HttpAuthBody, HttpAuthFuture, HttpAuthLayer, Refusal};
#[cfg(feature = "auth-jwt")]
#[cfg_attr(docsrs, doc(cfg(feature = "auth-jwt")))]
pub use self::jwt::{Family, InvalidJwt, Jwks, Jwt, VerifyJwt};
pub use self::{
    admit::Admit,
    api_keys::{ApiKeys, InvalidKeys, NewApiKey},
    authorize::{Authorize, AuthorizeIf, AuthorizeWith, Everybody, RequireScopes},
    credentials::{Credentials, Scheme},
    error::{AuthError, AuthErrorKind},
    establish::{Demand, Establish, Verifying},
    first_of::{FirstOf, VerifyFirst},
    identity::Identity,
    layer::{Auth, AuthLayer},
    verifier::Verifier,
    verify_fn::{VerifyFn, verify_fn},
};
