use std::{
    fmt::Display,
    hash::{BuildHasher, RandomState},
    io::Write,
    sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

/// The name of a turn: of the process, which is random, and its number there.
pub(super) fn name() -> String {
    static PROCESS: OnceLock<[u64; 2]> = OnceLock::new();
    static TURNS: AtomicU64 = AtomicU64::new(1);
    let [one, two] = PROCESS.get_or_init(|| {
        // Keyed anew, so what they make of nothing is random.
        [(); 2].map(|()| RandomState::new().hash_one(0_u8))
    });
    format!(
        "{one:016x}{two:016x}-{}",
        TURNS.fetch_add(1, Ordering::Relaxed)
    )
}

/// Begins a line, up to the value of its last member.
pub(super) fn begin(line: &mut Vec<u8>, turn: &str, at: Duration, member: &str) {
    line.clear();
    put(
        line,
        format_args!(
            "{{\"turn\":\"{turn}\",\"at\":{},\"{member}\":",
            at.as_micros()
        ),
    );
}

pub(super) fn put(line: &mut Vec<u8>, text: impl Display) {
    write!(line, "{text}").expect("memory takes everything");
}
