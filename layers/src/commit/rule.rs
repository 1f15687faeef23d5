use std::{fmt, sync::Arc};

/// A function of the user.
pub(crate) struct Rule<T: ?Sized, R = bool>(Arc<dyn Fn(&T) -> R + Send + Sync>);

impl<T: ?Sized, R> Rule<T, R> {
    pub(crate) fn new(rule: impl Fn(&T) -> R + Send + Sync + 'static) -> Self {
        Self(Arc::new(rule))
    }

    pub(crate) fn ask(&self, about: &T) -> R {
        (self.0)(about)
    }
}

impl<T: ?Sized, R> Clone for Rule<T, R> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T: ?Sized, R> fmt::Debug for Rule<T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rule").finish_non_exhaustive()
    }
}
