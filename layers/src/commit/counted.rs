use portcullis::{Failure, Scope};

/// Somebody above has counted the first attempt of this turn.
#[derive(Clone, Copy, Debug)]
struct Counted;

/// Counts the first attempt, once for all layers that begin again.
pub(crate) fn count_first(scope: &mut Scope) {
    if scope.extensions().get::<Counted>().is_none() {
        scope.extensions_mut().insert(Counted);
        scope.record().with(|turn| turn.attempts += 1);
    }
}

/// Counts another attempt, and keeps why the one before was given up.
pub(crate) fn count_another(scope: &Scope, failure: Option<&Failure>) {
    scope.record().with(|turn| turn.attempts += 1);
    if let Some(failure) = failure {
        scope.record().give_up(failure.clone());
    }
}
