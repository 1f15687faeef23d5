//! What the layers share that begin again, or judge how a run ended.

#[cfg(any(feature = "fallback", feature = "breaker"))]
mod blame;
#[cfg(any(feature = "retry", feature = "fallback"))]
mod counted;
#[cfg(any(feature = "retry", feature = "fallback"))]
mod held;
#[cfg(any(feature = "retry", feature = "fallback"))]
mod read;
#[cfg(any(feature = "retry", feature = "fallback"))]
mod reason;
mod rule;
#[cfg(any(feature = "retry", feature = "fallback"))]
mod visible;

#[cfg(any(feature = "fallback", feature = "breaker"))]
pub(crate) use self::blame::blames_the_turn;
pub(crate) use self::rule::Rule;
#[cfg(any(feature = "retry", feature = "fallback"))]
pub(crate) use self::{
    counted::{count_another, count_first},
    held::Held,
    read::{Attempt, read},
    reason::reason,
    visible::is_visible,
};
