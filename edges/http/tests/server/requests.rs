//! Properties of the body of a request.

use proptest::{collection, prelude::*, sample};

use crate::{
    arbitrary::{member, object, string, value},
    turn_request::check,
};

fn scope() -> impl Strategy<Value = String> {
    object(vec![
        member("session", string()),
        member("source", string()),
        member(
            "constraints",
            object(vec![member(
                "deadlineMs",
                (1..1_u64 << 40).prop_map(|millis| millis.to_string()),
            )]),
        ),
        member("outputSchema", value()),
        member("principal", value()),
    ])
}

fn prompt() -> impl Strategy<Value = String> {
    let images = object(vec![member("mimeType", string()), member("data", string())]);
    let images = collection::vec(images, 0..3).prop_map(|images| format!("[{}]", images.join(",")));
    object(vec![member("text", string()), member("images", images)])
}

fn body() -> impl Strategy<Value = String> {
    object(vec![member("scope", scope()), member("prompt", prompt())])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_turn_is_asked_as_it_was_said(text in body()) {
        prop_assert!(check(text.as_bytes()));
    }

    /// Members that are wrong, missing, or there twice under another way of writing the name.
    #[test]
    fn anything_else_is_judged_right(
        text in object(vec![
            member("scope", prop_oneof![scope(), value()]),
            member("prompt", prop_oneof![prompt(), value()]),
            member("scope", value()),
        ]),
    ) {
        prop_assert!(!check(text.as_bytes()));
    }

    #[test]
    fn a_damaged_body_is_judged_right(
        text in body(),
        at in any::<sample::Index>(),
        len in 0..4_usize,
        with in collection::vec(any::<u8>(), 0..3),
    ) {
        let mut bytes = text.into_bytes();
        let at = at.index(bytes.len());
        let end = (at + len).min(bytes.len());
        bytes.splice(at..end, with);
        check(&bytes);
    }

    #[test]
    fn any_bytes_are_judged_right(bytes in collection::vec(any::<u8>(), 0..64)) {
        check(&bytes);
    }
}

/// Where a stack would overflow, if anything here went down by itself.
#[test]
fn depth_is_judged_right() {
    for (depth, begins) in [
        (0, true),
        (126, true),
        (127, true),
        (128, false),
        (200_000, false),
    ] {
        let nested = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let nested = if depth == 0 { "1" } else { &nested };
        let text = format!(r#"{{"scope":{{"session":"s","x":{nested}}},"prompt":{{"text":"p"}}}}"#);
        assert_eq!(check(text.as_bytes()), begins, "{depth}");
    }
    let aside = format!(
        r#"{{"aside":{}{},"scope":{{"session":"s"}},"prompt":{{"text":"p"}}}}"#,
        "[".repeat(200_000),
        "]".repeat(200_000)
    );
    check(aside.as_bytes());
}
