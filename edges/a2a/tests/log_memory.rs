//! The log in memory keeps what every log keeps.
#![cfg(feature = "testing")]

use portcullis_a2a::{
    log::{Limits, MemoryLog, Retention, suite::Fixture},
    task_log_suite,
};

fn open(retention: Retention, limits: Limits) -> Fixture {
    Fixture::new(MemoryLog::with(retention, limits))
}

task_log_suite!(open);
