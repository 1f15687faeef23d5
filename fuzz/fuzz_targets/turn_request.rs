//! `cargo +nightly fuzz run turn_request`
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../src/turn_request.rs"]
mod turn_request;

fuzz_target!(|bytes: &[u8]| {
    turn_request::check(bytes);
});
