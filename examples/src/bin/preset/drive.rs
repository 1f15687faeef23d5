use std::time::Duration;

use futures_util::StreamExt;
use portcullis::{AgentEvent, AgentExt, Json, Prompt, Scope, SessionControl};
use portcullis_examples::say;
use portcullis_layers::{
    auth::Credentials,
    replay::{Recording, Replay},
};

use crate::{
    engines,
    stack::{Gated, gate},
    witness::Witness,
};

/// Drives every layer once. Answers how many did not act.
pub(crate) async fn run(witness: &Witness) -> Result<usize, Box<dyn std::error::Error>> {
    let directory = tempfile::tempdir()?;
    engines::directory(directory.path())?;
    let desk = || engines::desk(directory.path());
    let exec = || engines::exec(directory.path());
    let mut drive = Drive {
        witness,
        missing: 0,
    };
    drive.desk(gate("desk", desk()?, exec(), witness)?).await;
    drive
        .exec(gate("exec", exec(), engines::stand_in(), witness)?)
        .await;
    drive
        .broken(gate(
            "broken",
            engines::broken(),
            engines::broken(),
            witness,
        )?)
        .await;
    Ok(drive.missing)
}

struct Drive<'a> {
    witness: &'a Witness,
    missing: usize,
}

impl Drive<'_> {
    /// Prints what was seen; it has to say `expected`.
    fn show(&mut self, layer: &str, seen: &str, expected: &str) {
        let acted = seen.contains(expected);
        let mark = if acted {
            ""
        } else {
            "   <- this is not what it was to do"
        };
        say(&format!("  {layer:<16}{seen}{mark}"));
        self.missing += usize::from(!acted);
    }

    /// What the hooks told since the last time; the first that begins so.
    fn told(&self, beginning: &str) -> String {
        let told = self.witness.take();
        let found = told.into_iter().find(|line| line.starts_with(beginning));
        found.unwrap_or_else(|| "nothing".to_owned())
    }

    async fn desk(&mut self, gated: Gated) {
        say("desk, behind the whole preset");
        let agent = &gated.agent;

        let stranger = said(agent.invoke(Scope::new("a"), "what is 12*34?".into())).await;
        self.show("auth", &stranger, "unauthenticated");
        let mallory =
            said(agent.invoke(scope("a", "mallory's key"), "what is 12*34?".into())).await;
        self.show("auth", &mallory, "permission_denied");
        let bug = said(agent.invoke(scope("a", "broken key"), "what is 12*34?".into())).await;
        self.show("catch", &bug, "internal");

        self.witness.take();
        drop(gated.recordings.take());
        let answer = said(ann(agent, "a", "what is 12*34?")).await;
        self.show("(the answer)", &answer, "408");
        let told = self.witness.take();
        let of = |name: &str| told.iter().find(|line| line.starts_with(name)).cloned();
        self.show("trace", &of("trace:").unwrap_or_default(), "desk");
        self.show(
            "receipt",
            &of("receipt:").unwrap_or_default(),
            "ann, 8 events, 1 tools, 1 attempts, completed",
        );
        let lines = gated.recordings.take();
        let again = match Recording::read(lines.as_bytes()) {
            Ok(recordings) => {
                said(Replay::conversation(recordings).invoke(Scope::new("a"), "".into())).await
            }
            Err(error) => error.to_string(),
        };
        let same = if again == answer {
            "played again, the same"
        } else {
            &again
        };
        self.show("record, replay", same, "the same");

        let mut scan = Box::pin(ann(agent, "chat", "scan everything, pausing 200 ms"));
        let _first = scan.next().await;
        let busy = said(ann(agent, "chat", "what is 1+1?")).await;
        self.show("session gate", &busy, "session_busy");
        let mut other = Box::pin(ann(agent, "other", "scan everything, pausing 200 ms"));
        let _first = other.next().await;
        let full = said(ann(agent, "third", "what is 1+1?")).await;
        self.show("concurrency", &full, "overloaded");
        drop(other);
        let deadline = said(scan).await;
        self.show("timeout, total", &deadline, "timeout");

        let mut turn = Box::pin(ann(agent, "chat", "scan the first 3 files, pausing 50 ms"));
        let _first = turn.next().await;
        let queued = gated
            .sessions
            .follow_up("chat", "what is 6*7?".into())
            .await;
        let queued = queued.map_or_else(|refusal| refusal.to_string(), |_| "accepted".to_owned());
        self.show(
            "session window",
            &format!("a follow-up is {queued}"),
            "accepted",
        );
        let both = said(turn).await;
        self.show("session window", &both, "[follow_up]");
        self.show("session window", &both, "42");

        let greedy = "what is 1+1? what is 2+2? what is 3+3? what is 4+4? what is 5+5?";
        let cut = said(ann(agent, "b", greedy)).await;
        self.show("budget", &cut, "budget_exceeded");

        let masked = said(ann(agent, "b", "show me people.txt")).await;
        self.show("guard", &masked, "[masked]");
        let denied = said(ann(agent, "b", "how many days until 2127-01-01?")).await;
        self.show("guard, tools", &denied, "permission_denied");

        let mut limited = String::new();
        for _ in 0..60 {
            limited = said(ann(agent, "b", "what is 1+1?")).await;
            if limited.contains("rate_limited") {
                break;
            }
        }
        self.show("rate_limit", &limited, "rate_limited");
    }

    async fn exec(&mut self, gated: Gated) {
        say("exec, behind the same preset");
        let agent = &gated.agent;
        let masked = said(ann(agent, "a", "secret")).await;
        self.show("guard", &masked, "[masked]");

        let schema = r#"{"type":"object","required":["n"],"properties":{"n":{"type":"integer"}}}"#;
        let wants = || {
            let schema = Json::from_text(schema).expect("JSON");
            scope("a", "ann's key").with_output_schema(schema)
        };
        let data = said(agent.invoke(wants(), "json".into())).await;
        self.show("structured", &data, r#"{"n": 1}"#);
        let repaired = said(agent.invoke(wants(), "prose".into())).await;
        self.show("structured", &repaired, "[retrying: ");
        self.show("structured", &repaired, r#"= {"n": 1}"#);

        let flaky = said(ann(agent, "a", "flaky")).await;
        self.show(
            "retry",
            &flaky,
            "[retrying: the model is busy] this time it worked",
        );
        let told = self.told("receipt: ann, 3 events, 0 tools, 2 attempts");
        self.show("receipt", &told, "2 attempts");

        let hung = said(ann(agent, "a", "slow")).await;
        self.show("timeout, first", &hung, "no event came within");

        let down = said(ann(agent, "a", "down")).await;
        self.show("fallback", &down, "I stand in for it");
        let _again = said(ann(agent, "a", "down")).await;
        let opened = self.told("breaker:");
        self.show("breaker", &opened, "Open");
        let spared = said(ann(agent, "a", "json")).await;
        self.show("breaker", &spared, "I stand in for it");
    }

    async fn broken(&mut self, gated: Gated) {
        say("an engine with a bug, behind the same preset");
        let answer = said(ann(&gated.agent, "a", "hello")).await;
        self.show("conform", &answer, "internal");
    }
}

fn scope(session: &str, key: &str) -> Scope {
    let mut scope = Scope::new(session);
    // What an edge does with what came with a request.
    scope.extensions_mut().insert(Credentials::api_key(key));
    scope
}

fn ann(
    agent: &portcullis::BoxAgent,
    session: &str,
    prompt: &str,
) -> impl futures_util::Stream<Item = AgentEvent> + use<> {
    agent.invoke(scope(session, "ann's key"), Prompt::text(prompt))
}

/// A turn in one line: its text, `[type]` for what is not text, and its end.
async fn said(events: impl futures_util::Stream<Item = AgentEvent>) -> String {
    let events = std::pin::pin!(events);
    let all = events.fold(String::new(), async |mut line, event| {
        match event {
            AgentEvent::Text(text) => line.push_str(text.delta()),
            AgentEvent::ToolStarted(_) | AgentEvent::ToolEnded(_) => {}
            AgentEvent::Completed(completed) => {
                if let Some(data) = completed.data() {
                    line.push_str(&format!(" = {}", data.as_str()));
                }
            }
            AgentEvent::Failed(failure) => {
                let code = failure.code().map_or("no code", |code| code.as_str());
                line.push_str(&format!(" failed {code}: {}", failure.details()));
            }
            AgentEvent::Retrying(retrying) => {
                line.push_str(&format!("[retrying: {}] ", retrying.reason()));
            }
            other => line.push_str(&format!("[{}] ", other.type_name())),
        }
        line
    });
    let seconds = Duration::from_secs(30);
    let all = tokio::time::timeout(seconds, all).await;
    let line = all.unwrap_or_else(|_| "hung".to_owned());
    let mut line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() > 300 {
        let cut: String = line.chars().rev().take(200).collect();
        line = format!("… {}", cut.chars().rev().collect::<String>());
    }
    line
}
