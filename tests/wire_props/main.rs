//! Properties of the lossless JSON over arbitrary texts.

use proptest::{collection, prelude::*, sample};

mod arbitrary;
#[path = "../../fuzz/src/wire.rs"]
mod wire;

use arbitrary::{core_event, member, name, object, other_event, string, value};
use wire::{Fate, check, tokens};

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_core_event_keeps_its_tokens(text in core_event()) {
        prop_assert_eq!(check(text.as_bytes()), Fate::Core);
    }

    #[test]
    fn any_other_event_keeps_its_tokens_or_is_refused((unknown, text) in other_event()) {
        let fate = check(text.as_bytes());
        if unknown {
            prop_assert_eq!(fate, Fate::Extension);
        }
    }

    #[test]
    fn a_prompt_keeps_its_tokens(text in object(vec![
        member("text", string()),
        member("images", collection::vec(
            object(vec![member("mimeType", string()), member("data", string())]), 0..3,
        ).prop_map(|images| format!("[{}]", images.join(",")))),
    ])) {
        check(text.as_bytes());
        prop_assert!(portcullis::Prompt::from_json(&text).is_ok());
    }

    #[test]
    fn a_scope_keeps_its_tokens(text in object(vec![
        member("session", string()),
        member("source", string()),
        member("constraints", object(vec![member("deadlineMs", (0..1_u64 << 40).prop_map(|ms| ms.to_string()))])),
        member("outputSchema", value()),
        member("principal", value()),
    ])) {
        check(text.as_bytes());
        prop_assert!(portcullis::Scope::from_json(&text).is_ok());
    }

    /// A member of an event again, its name written in another way.
    #[test]
    fn a_repeated_name_is_refused(
        text in core_event(), escaped in name("type"), value in value(), front in any::<bool>(),
    ) {
        let event = text.trim();
        let twice = if front {
            format!("{{{escaped}:{value},{}", &event[1..])
        } else {
            format!("{},{escaped}:{value}}}", &event[..event.len() - 1])
        };
        prop_assert_eq!(check(twice.as_bytes()), Fate::Refused);
    }

    /// Anywhere in an envelope, with what somebody else's serde does around it.
    #[test]
    fn an_event_nests(text in core_event(), seq in any::<u64>()) {
        let event = portcullis::AgentEvent::from_json(&text).expect("an event");
        let envelope = format!("[{{\"{seq}\":[{text}]}}]");
        let read: Vec<std::collections::BTreeMap<String, Vec<portcullis::AgentEvent>>> =
            serde_json::from_str(&envelope).expect("an envelope");
        prop_assert_eq!(&read[0][&seq.to_string()][0], &event);
        let written = serde_json::to_string(&read).expect("JSON");
        prop_assert_eq!(written, format!("[{{\"{seq}\":[{}]}}]", event.to_json()));
    }

    #[test]
    fn a_value_keeps_its_tokens(text in value()) {
        let json = portcullis::Json::from_text(text.as_str()).expect("JSON");
        prop_assert_eq!(tokens(json.as_str()), tokens(&text));
        prop_assert!(!json.as_str().contains(['\r', '\n']));
    }

    /// Some bytes of a right event are replaced, cut or doubled: never a panic, and
    /// never another verdict than the independent one.
    #[test]
    fn a_damaged_event_is_judged_right(
        text in prop_oneof![core_event(), other_event().prop_map(|(_, text)| text)],
        at in any::<sample::Index>(),
        len in 0..4_usize,
        with in prop_oneof![
            collection::vec(any::<u8>(), 0..3),
            sample::select(vec!["\"", "\\", "{", "}", "[", "]", ",", ":", "0", "-", "e", ".", "\\u", "\n", "\0", " "])
                .prop_map(|text| text.as_bytes().to_vec()),
        ],
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
