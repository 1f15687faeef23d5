//! Whatever the chunks, the frames are the same: O-S01 to O-S05 for any stream.

use proptest::{collection, prelude::*, sample};

#[path = "../../../fuzz/src/sse.rs"]
mod sse;

/// Pieces that matter to the grammar, and some that do not.
fn stream() -> impl Strategy<Value = Vec<u8>> {
    let known = sample::select(vec![
        "\n",
        "\n",
        "\r",
        "\r\n",
        "\n\n",
        "\r\n\r\n",
        "\r\r",
        "data: ",
        "data:",
        "data",
        "event: ",
        "id: ",
        "id:",
        "retry: 5",
        ":",
        ": ping",
        " ",
        "\u{feff}",
        "\0",
        "é漢🙂",
        "{\"a\":1}",
    ])
    .prop_map(|text: &str| text.as_bytes().to_vec());
    let other = collection::vec(any::<u8>(), 0..6);
    collection::vec(prop_oneof![8 => known, 1 => other], 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn every_cut_gives_the_same_frames(
        stream in stream(),
        cuts in collection::vec(any::<usize>(), 0..8),
    ) {
        sse::check(&stream, &cuts);
    }

    #[test]
    fn so_does_what_the_fuzzer_would_make(bytes in collection::vec(any::<u8>(), 0..80)) {
        sse::check_raw(&bytes);
    }
}
