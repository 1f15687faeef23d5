//! What every [`TaskLog`](super::TaskLog) has to keep, as checks that a backend runs.
//!
//! Say how a log is opened, and [`task_log_suite!`](crate::task_log_suite) makes one test
//! of each check. It needs `tokio` with its macros in the crate that uses it.
//!
//! ```
//! # mod tests {
//! use portcullis_a2a::{
//!     log::{Limits, MemoryLog, Retention, suite::Fixture},
//!     task_log_suite,
//! };
//!
//! fn open(retention: Retention, limits: Limits) -> Fixture {
//!     Fixture::new(MemoryLog::with(retention, limits))
//! }
//!
//! task_log_suite!(open);
//! # }
//! ```
//!
//! The checks judge what comes out, never how long it takes.
#![expect(clippy::missing_panics_doc, reason = "a check that fails panics")]

mod append;
mod bell;
mod finish;
mod fixture;
mod folding;
mod lease;
mod list;
mod load;
mod owner;
mod random;
mod retention;
mod sample;

pub use self::{
    append::{
        batches_are_whole, expected_seq_fences, reading_goes_on_where_it_stopped, two_writers_race,
    },
    bell::{bells_lose_no_stroke, bells_of_nothing_leave_nothing},
    finish::{finished_tasks_refuse, full_logs_can_still_fail},
    fixture::Fixture,
    folding::{logs_fold_like_the_reference, snapshots_stay_as_they_are},
    lease::{holders_exclude_each_other, namespaces_are_apart, orphans_are_taken_over_once},
    list::{
        cursors_hold_while_tasks_arrive, lists_count_what_is_not_finished, lists_filter,
        lists_show_what_is_asked_for,
    },
    load::{Load, a_thousand_streams, streams},
    owner::strangers_find_nothing,
    retention::{finished_tasks_go_by_age, finished_tasks_go_by_number, live_tasks_stay},
};

/// Makes a test of each check in [`suite`](crate::log::suite). Takes a function from
/// `Retention` and `Limits` to a `Fixture`, or a closure that captures nothing.
#[macro_export]
macro_rules! task_log_suite {
    ($open:expr) => {
        $crate::task_log_suite! {
            @each $open;
            batches_are_whole
            expected_seq_fences
            reading_goes_on_where_it_stopped
            two_writers_race
            bells_lose_no_stroke
            bells_of_nothing_leave_nothing
            finished_tasks_refuse
            full_logs_can_still_fail
            logs_fold_like_the_reference
            snapshots_stay_as_they_are
            holders_exclude_each_other
            orphans_are_taken_over_once
            namespaces_are_apart
            cursors_hold_while_tasks_arrive
            lists_count_what_is_not_finished
            lists_filter
            lists_show_what_is_asked_for
            a_thousand_streams
            strangers_find_nothing
            finished_tasks_go_by_age
            finished_tasks_go_by_number
            live_tasks_stay
        }
    };
    (@each $open:expr; $($check:ident)*) => {
        $(
            #[tokio::test(flavor = "multi_thread")]
            async fn $check() {
                $crate::log::suite::$check($open).await;
            }
        )*
    };
}
