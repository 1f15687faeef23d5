use std::{fmt, sync::Arc};

use portcullis::{AgentEvent, End, Flow, Outbox, Prompt, Scope, Turn};
use tokio::time::Instant;

use super::{
    LineSink, Refused,
    line::{begin, name, put},
};

/// A turn that is written down.
pub struct RecordTurn {
    sink: Arc<dyn LineSink>,
    name: String,
    began: Instant,
    line: Vec<u8>,
    complete: bool,
}

impl RecordTurn {
    pub(super) fn new(sink: Arc<dyn LineSink>, request: Option<(&Scope, &Prompt)>) -> Self {
        let mut turn = Self {
            sink,
            name: name(),
            began: Instant::now(),
            line: Vec::new(),
            complete: true,
        };
        begin(&mut turn.line, &turn.name, turn.began.elapsed(), "begin");
        put(&mut turn.line, r#"{"version":1"#);
        if let Some((scope, prompt)) = request {
            let scope = scope.to_json_at(turn.began.into_std());
            put(
                &mut turn.line,
                format_args!(",\"scope\":{scope},\"prompt\":"),
            );
            prompt.write_json(&mut turn.line);
        }
        put(&mut turn.line, "}}");
        turn.write();
        turn
    }

    fn write(&mut self) {
        if let Err(refused) = self.sink.line(&self.line) {
            self.give_up(refused);
        }
    }

    fn give_up(&mut self, refused: Refused) {
        if self.complete {
            self.complete = false;
            tracing::warn!(turn = self.name, reason = %refused, "a recording is incomplete");
        }
    }
}

impl Turn for RecordTurn {
    fn on_event(&mut self, event: &mut AgentEvent, _out: &mut Outbox) -> Flow {
        if self.complete {
            begin(&mut self.line, &self.name, self.began.elapsed(), "event");
            event.write_json(&mut self.line);
            put(&mut self.line, "}");
            self.write();
        }
        Flow::Forward
    }

    fn on_end(mut self, end: End<'_>) {
        begin(&mut self.line, &self.name, self.began.elapsed(), "end");
        put(
            &mut self.line,
            match end {
                End::Completed => r#""completed""#,
                End::Failed(_) => r#""failed""#,
                End::Cancelled => r#""cancelled""#,
                End::Truncated => r#""truncated""#,
                End::Panicked => r#""panicked""#,
            },
        );
        if !self.complete {
            put(&mut self.line, r#","incomplete":true"#);
        }
        put(&mut self.line, "}");
        self.write();
    }
}

impl fmt::Debug for RecordTurn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecordTurn")
            .field("name", &self.name)
            .field("complete", &self.complete)
            .finish_non_exhaustive()
    }
}
