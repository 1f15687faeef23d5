//! `cargo +nightly fuzz run wire`
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../src/wire.rs"]
mod wire;

fuzz_target!(|bytes: &[u8]| {
    wire::check(bytes);
});
