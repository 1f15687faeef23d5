//! Reading and writing events, beside the naive way: a derived, tagged enum over
//! `serde_json::Value`, which loses numbers and unknown members.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use portcullis::AgentEvent;
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Naive {
    Text {
        delta: String,
    },
    ToolEnded {
        id: String,
        #[serde(rename = "isError")]
        is_error: bool,
        content: Value,
    },
    Citation {
        url: String,
        title: String,
        score: Value,
        spans: Value,
    },
}

fn corpus() -> [(&'static str, String); 4] {
    let rows: Vec<_> = (0..20)
        .map(|row| {
            format!(r#"{{"id":{row},"name":"row {row}","score":{row}.50,"tags":["a","b"]}}"#)
        })
        .collect();
    [
        ("text", r#"{"type":"text","delta":"hello"}"#.into()),
        (
            "text_unknown_members",
            r#"{"type":"text","delta":"hello","seq":12,"lang":"en"}"#.into(),
        ),
        (
            "tool",
            format!(
                r#"{{"type":"tool_ended","id":"call-1","isError":false,"content":[{}]}}"#,
                rows.join(",")
            ),
        ),
        (
            "unknown",
            r#"{"type":"citation","url":"https://example.org/tower","title":"The tower","score":0.987654321,"spans":[{"from":1,"to":20},{"from":30,"to":42}]}"#.into(),
        ),
    ]
}

fn wire(criterion: &mut Criterion) {
    for (name, text) in corpus() {
        let event = AgentEvent::from_json(&text).expect("an event");
        let naive: Naive = serde_json::from_str(&text).expect("an event");

        let mut decode = criterion.benchmark_group(format!("decode/{name}"));
        decode.bench_function("portcullis", |bencher| {
            bencher.iter(|| AgentEvent::from_json(black_box(&text)).expect("an event"));
        });
        decode.bench_function("naive", |bencher| {
            bencher.iter(|| serde_json::from_str::<Naive>(black_box(&text)).expect("an event"));
        });
        decode.finish();

        let mut out = Vec::with_capacity(text.len() * 2);
        let mut encode = criterion.benchmark_group(format!("encode/{name}"));
        encode.bench_function("portcullis", |bencher| {
            bencher.iter(|| {
                out.clear();
                black_box(&event).write_json(&mut out);
            });
        });
        encode.bench_function("naive", |bencher| {
            bencher.iter(|| {
                out.clear();
                serde_json::to_writer(&mut out, black_box(&naive)).expect("JSON");
            });
        });
        encode.finish();
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().without_plots();
    targets = wire
}
criterion_main!(benches);
