//! Layers that admit a turn: the second of the three shapes.

mod layer;
mod service;
mod stream;

use crate::{Failure, Prompt, Scope, Turn};

pub use self::{layer::PolicyLayer, service::Admitted, stream::AdmittedStream};

/// Decides whether a turn may run, perhaps after a wait, and watches it then.
///
/// One value a layer. The agent below is made ready and called only after the turn is
/// admitted, on a clone, so that a turn that waits reserves nothing.
///
/// ```
/// use std::future::{Ready, ready};
/// use portcullis::{Failure, FailureCode, Policy, Prompt, Scope};
///
/// /// Lets nobody in who has no name.
/// #[derive(Clone)]
/// struct Named;
///
/// impl Policy for Named {
///     type Turn = ();
///     type Admit = Ready<Result<(Scope, Prompt, ()), Failure>>;
///
///     fn admit(&self, scope: Scope, prompt: Prompt) -> Self::Admit {
///         ready(match scope.principal() {
///             Some(_) => Ok((scope, prompt, ())),
///             None => Err(Failure::with_code(FailureCode::UNAUTHENTICATED, "who are you?")),
///         })
///     }
/// }
/// ```
pub trait Policy {
    /// What watches an admitted turn, and holds its permit.
    type Turn: Turn;
    /// The decision. Dropping it withdraws the request: it must leave nothing behind.
    type Admit: Future<Output = Result<(Scope, Prompt, Self::Turn), Failure>>;

    /// Asks for admission. `Err` refuses: the turn is one `failed` event, and the agent
    /// is not called.
    fn admit(&self, scope: Scope, prompt: Prompt) -> Self::Admit;
}
