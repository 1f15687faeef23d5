use std::fmt::Write;

use portcullis_a2a::model::{Message, Part, Role, Task};

use crate::plain::push_plain;

/// The task on one line: id, state, since when, conversation.
pub(super) fn line(task: &Task) -> String {
    let since = task.status.timestamp.map(|since| since.to_string());
    let mut shown = String::new();
    let line = format!(
        "{}  {:<14}  {}  {}",
        task.id,
        word(task),
        since.as_deref().unwrap_or("-"),
        task.context_id
    );
    push_plain(&mut shown, &line);
    shown
}

/// The task, what was said, and what came out.
pub(super) fn whole(task: &Task) -> String {
    let mut text = line(task);
    for message in &task.history {
        let who = if message.role == Role::User {
            "user"
        } else {
            "agent"
        };
        say(&mut text, who, &message.text());
    }
    for artifact in &task.artifacts {
        let parts: String = artifact.parts.iter().filter_map(Part::as_text).collect();
        say(&mut text, "agent", &parts);
    }
    if let Some(said) = task.status.message.as_ref().map(Message::text) {
        say(&mut text, "status", &said);
    }
    text
}

/// The task as one JSON object on a line.
pub(super) fn json(task: &Task) -> String {
    serde_json::to_string(task).expect("a task is JSON")
}

fn say(text: &mut String, who: &str, said: &str) {
    for line in said.lines() {
        let _ = write!(text, "\n{who:<8}");
        push_plain(text, line);
    }
}

fn word(task: &Task) -> String {
    let name = task.status.state.as_str();
    name.trim_start_matches("TASK_STATE_")
        .to_ascii_lowercase()
        .replace('_', "-")
}
