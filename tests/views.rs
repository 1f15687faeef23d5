//! Extension events made by code, and typed views over them.

use portcullis::{
    AgentEvent, Extension, ExtensionView, InsertError, Json,
    views::{
        Artifact, ArtifactContent, AuthRequired, Budget, Citation, Context, FollowUp,
        InputRequired, Lagged,
    },
};
use serde::{Deserialize, Serialize};

fn json(text: &str) -> Json {
    Json::from_text(text).expect("JSON")
}

fn read(text: &str) -> AgentEvent {
    AgentEvent::from_json(text).expect("an event")
}

#[test]
fn an_extension_keeps_the_text_of_its_members() {
    for (type_name, members, text) in [
        ("x", "{}", r#"{"type":"x"}"#),
        ("x", "{ }", r#"{"type":"x"}"#),
        ("x", r#"{ "n" : 1.0}"#, r#"{"type":"x","n" : 1.0}"#),
        ("", r#"{"\u0061":1e400}"#, r#"{"type":"","\u0061":1e400}"#),
        ("a\"b\n", "{}", r#"{"type":"a\"b\n"}"#),
    ] {
        let extension = Extension::new(type_name, &json(members)).expect("an extension");
        assert_eq!(extension.type_name(), type_name);
        assert_eq!(extension.json().as_str(), text);
        assert_eq!(read(text), AgentEvent::from(extension));
    }
}

/// A terminal, or another core event, in the clothes of an extension would pass every layer.
#[test]
fn code_cannot_make_a_core_event_out_of_an_extension() {
    for core in [
        "text",
        "thinking",
        "tool_started",
        "tool_ended",
        "retrying",
        "usage",
        "completed",
        "failed",
    ] {
        let error = Extension::new(core, &json("{}")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "extension event, member `type`: expected a type that the core set does not have, found one that it has"
        );
        assert!(Extension::encode(core, &Json::encode(&()).expect("null")).is_err());
    }
    for members in [
        r#"{"type":"completed"}"#,
        r#"{"a":1,"\u0074ype":"completed"}"#,
        r#"{"a":1,"\u0061":2}"#,
        "[]",
        "null",
        "\"completed\"",
    ] {
        assert!(Extension::new("x", &json(members)).is_err(), "{members}");
        assert!(Extension::encode("x", &json(members)).is_err(), "{members}");
    }
    let deep = |depth: usize| json(&("{\"a\":".repeat(depth) + "0" + &"}".repeat(depth)));
    assert!(Extension::new("x", &deep(128)).is_ok());
}

#[derive(Serialize, Deserialize, Debug, PartialEq)]
struct Completed {
    text: String,
}

impl ExtensionView for Completed {
    const TYPE: &'static str = "completed";
}

#[derive(Serialize, Deserialize, Debug, PartialEq)]
struct Plan {
    steps: Vec<String>,
}

impl ExtensionView for Plan {
    const TYPE: &'static str = "plan";
}

#[test]
fn a_user_defines_a_view() {
    let plan = Plan {
        steps: vec!["look".into()],
    };
    let event = AgentEvent::from(Extension::of(&plan).expect("an extension"));
    assert_eq!(event.to_json(), r#"{"type":"plan","steps":["look"]}"#);
    assert_eq!(event.view::<Plan>().expect("a plan").expect("a plan"), plan);
    assert!(event.view::<Budget>().is_none());
    assert!(AgentEvent::text("").view::<Plan>().is_none());
    // Somebody else's `plan` is an error to the view and passes as it is.
    let other = r#"{"type":"plan","steps":3.0}"#;
    assert!(read(other).view::<Plan>().expect("a plan").is_err());
    assert_eq!(read(other).to_json(), other);

    assert!(Extension::of(&Completed { text: "".into() }).is_err());
}

fn round_trip<V>(view: &V, text: &str)
where
    V: ExtensionView + Clone + PartialEq + std::fmt::Debug + Into<AgentEvent>,
{
    let event: AgentEvent = view.clone().into();
    assert_eq!(event.to_json(), text);
    assert_eq!(read(text), event);
    assert_eq!(
        event.view::<V>().expect("its type").expect("its shape"),
        *view
    );
    let by_serde = AgentEvent::from(Extension::of(view).expect("an extension"));
    assert_eq!(by_serde, event);

    // What the view does not know survives reading and writing.
    let more = format!(r#"{},"\u0062":1e400,"a":null}}"#, &text[..text.len() - 1]);
    let view = read(&more)
        .view::<V>()
        .expect("its type")
        .expect("its shape");
    assert_eq!(view.into().to_json(), more);
}

#[test]
fn the_well_known_views() {
    round_trip(
        &Context::new(5_u64, 10_u64),
        r#"{"type":"context","used":5,"size":10}"#,
    );
    let mut budget = Budget::new("tokens", 9_u64, 10_u64);
    round_trip(
        &budget.clone(),
        r#"{"type":"budget","meter":"tokens","used":9,"limit":10}"#,
    );
    budget.scope = Some("turn".into());
    round_trip(
        &budget,
        r#"{"type":"budget","meter":"tokens","used":9,"limit":10,"scope":"turn"}"#,
    );
    round_trip(
        &Citation::new("urn:x"),
        r#"{"type":"citation","url":"urn:x"}"#,
    );
    let mut question = InputRequired::new("Where to?");
    question.schema = Some(json(r#"{"type": "string"}"#));
    round_trip(
        &question,
        r#"{"type":"input_required","question":"Where to?","schema":{"type": "string"}}"#,
    );
    let mut sign_in = AuthRequired::new("sign in");
    sign_in.url = Some("https://example.org".into());
    round_trip(
        &sign_in,
        r#"{"type":"auth_required","details":"sign in","url":"https://example.org"}"#,
    );
    let mut boundary = FollowUp::new(2_u64);
    boundary.data = Some(Json::null());
    round_trip(&boundary, r#"{"type":"follow_up","run":2,"data":null}"#);
    round_trip(&Lagged::new(3_u64), r#"{"type":"lagged","missed":3}"#);
    let mut artifact = Artifact::new("1", ArtifactContent::Text("a,b".into()));
    artifact.name = Some("t.csv".into());
    artifact.mime_type = Some("text/csv".into());
    artifact.append = Some(false);
    artifact.last = Some(true);
    round_trip(
        &artifact,
        r#"{"type":"artifact","id":"1","text":"a,b","name":"t.csv","mimeType":"text/csv","append":false,"last":true}"#,
    );
    for (content, member) in [
        (ArtifactContent::Raw("AA==".into()), r#""raw":"AA==""#),
        (ArtifactContent::Url("urn:x".into()), r#""url":"urn:x""#),
        (ArtifactContent::Data(Json::null()), r#""data":null"#),
    ] {
        round_trip(
            &Artifact::new("1", content),
            &format!(r#"{{"type":"artifact","id":"1",{member}}}"#),
        );
    }
}

#[test]
fn a_view_refuses_another_shape_and_says_why() {
    let says = |text: &str| match read(text) {
        AgentEvent::Extension(event) => match event.type_name() {
            "budget" => event
                .view::<Budget>()
                .expect("its type")
                .unwrap_err()
                .to_string(),
            "artifact" => event
                .view::<Artifact>()
                .expect("its type")
                .unwrap_err()
                .to_string(),
            _ => panic!("another type"),
        },
        _ => panic!("a core type"),
    };
    assert_eq!(
        says(r#"{"type":"budget","meter":"m","used":1.5,"limit":2}"#),
        "budget event, member `used`, byte 36: expected a whole number, found a number"
    );
    assert_eq!(
        says(r#"{"type":"budget","meter":"m","used":1}"#),
        "budget event, member `limit`: expected a value, found no such member"
    );
    // O-W04
    assert!(
        says(r#"{"type":"artifact","id":"1","text":"","data":1}"#)
            .starts_with("artifact event, member `data`, byte 45: expected one of")
    );
    assert!(says(r#"{"type":"artifact","id":"1"}"#).ends_with("found none of them"));
}

#[test]
fn unknown_members_of_a_view_cannot_shadow_its_own() {
    let mut budget = Budget::new("tokens", 1_u64, 2_u64);
    for name in ["type", "meter", "used", "limit", "scope"] {
        assert_eq!(
            budget.extra_mut().insert(name, &Json::null()),
            Err(InsertError::Known(name))
        );
    }
    let mut artifact = Artifact::new("1", ArtifactContent::Data(Json::null()));
    for name in ["type", "id", "text", "raw", "url", "data", "mimeType"] {
        assert!(artifact.extra_mut().insert(name, &Json::null()).is_err());
    }
}
