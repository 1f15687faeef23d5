use std::fmt;

use portcullis::{Admitted, Policy, Prompt, Scope};
use tower_layer::Layer;

use super::{
    Authorize, Credentials, Demand, Establish, Everybody, Identity, RequireScopes, Verifier,
    admit::Admit,
    authorize::{AuthorizeIf, AuthorizeWith},
};

/// Lets only those in who are known and may. See the [module docs](super).
#[derive(Clone)]
pub struct AuthLayer<E, P = Everybody> {
    establish: E,
    policy: P,
    keep_credentials: bool,
}

/// An agent that answers those only who are known and may. See the [module docs](super).
pub type Auth<S, E, P = Everybody> = Admitted<S, AuthLayer<E, P>>;

impl<V: Verifier> AuthLayer<V> {
    /// Verifies the [`Credentials`] of a turn, and says in its scope who asks. A principal that
    /// is there already counts for nothing.
    #[must_use]
    pub const fn new(verifier: V) -> Self {
        Self {
            establish: verifier,
            policy: Everybody::new(),
            keep_credentials: false,
        }
    }
}

impl AuthLayer<Demand> {
    /// Demands that somebody outside has said in the scope who asks, as an edge does behind an
    /// HTTP layer.
    #[must_use]
    pub const fn demand() -> Self {
        Self {
            establish: Demand::new(),
            policy: Everybody::new(),
            keep_credentials: false,
        }
    }
}

impl<E, P> AuthLayer<E, P> {
    /// It takes all of these scopes. Takes the place of an earlier rule; two rules are two
    /// layers, the inner of which [demands](Self::demand).
    ///
    /// An edge hands on who asks, not with which scopes: behind an HTTP layer, the scopes are
    /// checked there.
    #[must_use]
    pub fn require_scopes<T: Into<String>>(
        self,
        scopes: impl IntoIterator<Item = T>,
    ) -> AuthLayer<E, RequireScopes> {
        self.authorize(RequireScopes::new(scopes))
    }

    /// A function says who may ask what. Takes the place of an earlier rule.
    #[must_use]
    pub fn authorize_if<F>(self, decide: F) -> AuthLayer<E, AuthorizeIf<F>>
    where
        F: Fn(&Identity, &Scope, &Prompt) -> bool,
    {
        self.authorize(AuthorizeIf::new(decide))
    }

    /// An async function says who may ask what. Takes the place of an earlier rule.
    #[must_use]
    pub fn authorize_with<F, Fut>(self, decide: F) -> AuthLayer<E, AuthorizeWith<F>>
    where
        F: Fn(Identity, Scope, Prompt) -> Fut,
        Fut: Future<Output = Result<(), super::AuthError>>,
    {
        self.authorize(AuthorizeWith::new(decide))
    }

    /// A rule of your own. Takes the place of an earlier one.
    #[must_use]
    pub fn authorize<Q: Authorize>(self, policy: Q) -> AuthLayer<E, Q> {
        AuthLayer {
            establish: self.establish,
            policy,
            keep_credentials: self.keep_credentials,
        }
    }

    /// Leaves the [`Credentials`] in the scope, for an agent that calls others in the name of
    /// its caller. By default they end here.
    #[must_use]
    pub fn keep_credentials(mut self) -> Self {
        self.keep_credentials = true;
        self
    }
}

impl<E, P> Policy for AuthLayer<E, P>
where
    E: Establish,
    P: Authorize + Clone,
{
    type Turn = ();
    type Admit = Admit<E::Establish, P>;

    fn admit(&self, mut scope: Scope, prompt: Prompt) -> Self::Admit {
        let establish = self.establish.establish(&scope);
        if !self.keep_credentials && scope.extensions().get::<Credentials>().is_some() {
            scope.extensions_mut().remove::<Credentials>();
        }
        Admit::new(establish, self.policy.clone(), scope, prompt)
    }
}

impl<S, E: Clone, P: Clone> Layer<S> for AuthLayer<E, P> {
    type Service = Auth<S, E, P>;

    fn layer(&self, inner: S) -> Self::Service {
        Admitted::new(inner, self.clone())
    }
}

impl<E: fmt::Debug, P: fmt::Debug> fmt::Debug for AuthLayer<E, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuthLayer")
            .field("establish", &self.establish)
            .field("policy", &self.policy)
            .field("keep_credentials", &self.keep_credentials)
            .finish()
    }
}
