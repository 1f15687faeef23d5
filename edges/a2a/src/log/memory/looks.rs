//! How many places of the index a test has made it look at.

use std::cell::Cell;

thread_local!(static LOOKS: Cell<usize> = const { Cell::new(0) });

pub(super) fn count() {
    LOOKS.set(LOOKS.get() + 1);
}

pub(super) fn reset() {
    LOOKS.set(0);
}

pub(super) fn so_far() -> usize {
    LOOKS.get()
}
