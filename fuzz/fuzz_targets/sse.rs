//! `cargo +nightly fuzz run sse`
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../src/sse.rs"]
mod sse;

fuzz_target!(|bytes: &[u8]| {
    sse::check_raw(bytes);
});
