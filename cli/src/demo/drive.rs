use std::{
    io::Write,
    time::{Duration, Instant},
};

use portcullis_a2a::{
    client::{CallError, Client, Transport},
    model::{CancelTaskRequest, ErrorKind, GetTaskRequest, Task, TaskState},
};

use super::{
    caller::{Watched, ask},
    transcript::Transcript,
    witness::Witness,
};
use crate::desk::Gauge;

/// Drives the agent through five turns, and answers what did not come out as said.
pub(super) async fn drive<T: Transport, W: Write>(
    client: &Client<T>,
    gauge: &Gauge,
    witness: &Witness,
    transcript: &mut Transcript<W>,
) -> Vec<String> {
    let mut drive = Drive {
        client,
        gauge,
        witness,
        transcript,
        wrong: Vec::new(),
    };
    let turns = async {
        drive.two_tools().await?;
        drive.cut_by_budget().await?;
        drive.canceled().await?;
        drive.timed_out().await?;
        drive.hung_up().await
    };
    if let Err(error) = turns.await {
        let why = std::error::Error::source(&error).map(|cause| format!(": {cause}"));
        drive
            .wrong
            .push(format!("a call failed: {error}{}", why.unwrap_or_default()));
    }
    drive.wrong
}

struct Drive<'a, T, W> {
    client: &'a Client<T>,
    gauge: &'a Gauge,
    witness: &'a Witness,
    transcript: &'a mut Transcript<W>,
    wrong: Vec<String>,
}

impl<T: Transport, W: Write> Drive<'_, T, W> {
    fn expect(&mut self, holds: bool, what: &str) {
        if !holds {
            self.wrong.push(what.to_owned());
        }
    }

    async fn ask(&mut self, context_id: Option<&str>, text: &str) -> Result<Watched, CallError> {
        ask(self.client, context_id, text, self.transcript).await
    }

    /// What the layer `trace` recorded of the turn that ended.
    async fn traced(&mut self, outcome: &str, error: Option<&str>) {
        match self.witness.next().await {
            Some(turn) => {
                self.transcript.line("trace", &turn);
                let same = turn.outcome == outcome && turn.error.as_deref() == error;
                self.expect(same, &format!("trace: the turn is {outcome}"));
            }
            None => self.expect(false, "trace: records the end of the turn"),
        }
    }

    /// A question that takes two tools, and completes.
    async fn two_tools(&mut self) -> Result<(), CallError> {
        self.transcript.turn("a question that takes two tools");
        let mut turn = self
            .ask(
                None,
                "how many lines of Rust are in this directory, and what is that times 12?",
            )
            .await?;
        turn.read(self.transcript, |_| false).await?;
        self.expect(
            turn.state == Some(TaskState::Completed),
            "the question completes",
        );
        self.expect(
            turn.tools == ["count", "calc"],
            "the question takes count and calc",
        );
        self.traced("completed", None).await;
        Ok(())
    }

    /// A turn that its budget cuts in the middle.
    async fn cut_by_budget(&mut self) -> Result<(), CallError> {
        self.transcript
            .turn("a turn that its budget cuts in the middle");
        let mut turn = self
            .ask(
                None,
                "what is 6*7, and that times 2, and that plus 16, and that in hex?",
            )
            .await?;
        turn.read(self.transcript, |_| false).await?;
        self.expect(
            turn.state == Some(TaskState::Failed),
            "budget: the turn fails",
        );
        self.expect(
            turn.code.as_deref() == Some("budget_exceeded"),
            "budget: it says so",
        );
        self.expect(
            turn.tools.len() == 3,
            "budget: three tools ran and the fourth did not",
        );
        if turn.code.as_deref() == Some("budget_exceeded") {
            let tools = turn.tools.len();
            self.transcript
                .line("budget", format_args!("cut the turn after {tools} tools"));
        }
        self.traced("failed", Some("budget_exceeded")).await;
        Ok(())
    }

    /// A scan that the caller cancels; meanwhile its conversation takes no other turn.
    async fn canceled(&mut self) -> Result<(), CallError> {
        self.transcript.turn("a scan that the caller cancels");
        let mut turn = self.ask(None, "scan everything, pausing 200 ms").await?;
        turn.read(self.transcript, |turn| turn.pieces >= 3).await?;
        let context_id = turn.context_id.clone();
        match self.ask(Some(&context_id), "what is 1+1?").await {
            Err(CallError::Refused(refusal)) if refusal.kind() == ErrorKind::Unavailable => {
                self.transcript.line(
                    "concurrency",
                    format_args!("refused: {}", refusal.message()),
                );
            }
            Ok(mut second) => {
                second.read(self.transcript, |_| false).await?;
                self.expect(false, "concurrency: a conversation has one turn at a time");
            }
            Err(error) => return Err(error),
        }
        self.traced("failed", Some("overloaded")).await;

        self.transcript.line("caller", "(cancels the task)");
        let asked = Instant::now();
        let canceled = self
            .client
            .cancel_task(&CancelTaskRequest::new(&turn.task_id))
            .await?;
        self.gauge.still().await;
        let still = asked.elapsed();
        self.expect(
            canceled.status.state == TaskState::Canceled,
            "the scan is canceled",
        );
        turn.read(self.transcript, |_| false).await?;
        self.expect(
            turn.state == Some(TaskState::Canceled),
            "its watcher hears of it",
        );
        self.transcript.line(
            "engine",
            format_args!(
                "stood still {:.1} ms after the caller asked",
                still.as_secs_f64() * 1e3
            ),
        );
        self.traced("cancelled", Some("cancelled")).await;
        Ok(())
    }

    /// A turn that its time-out ends.
    async fn timed_out(&mut self) -> Result<(), CallError> {
        self.transcript.turn("a turn that its time-out ends");
        let mut turn = self.ask(None, "scan everything, pausing 2 s").await?;
        turn.read(self.transcript, |turn| turn.pieces >= 4).await?;
        self.expect(
            turn.state == Some(TaskState::Failed),
            "timeout: the turn fails",
        );
        self.expect(
            turn.code.as_deref() == Some("timeout"),
            "timeout: it says so",
        );
        if turn.state == Some(TaskState::Failed) {
            self.transcript.line("timeout", "ended the turn");
            self.gauge.still().await;
        } else {
            // Without the layer the scan would go on for as long as there are files.
            self.client
                .cancel_task(&CancelTaskRequest::new(&turn.task_id))
                .await?;
        }
        self.traced("failed", Some("timeout")).await;
        Ok(())
    }

    /// A caller that hangs up; the task goes on.
    async fn hung_up(&mut self) -> Result<(), CallError> {
        self.transcript
            .turn("a caller that hangs up while the task goes on");
        let mut turn = self
            .ask(None, "scan the first 12 files, pausing 100 ms")
            .await?;
        turn.read(self.transcript, |turn| turn.pieces >= 2).await?;
        let (task_id, seen) = (turn.task_id.clone(), turn.text.len());
        drop(turn);
        self.transcript.line("caller", "(hangs up)");
        let task = self.ended(&task_id).await?;
        let text = text_of(&task);
        let word = task.status.state.as_str().trim_start_matches("TASK_STATE_");
        self.transcript.line(
            "task",
            format_args!(
                "{word}, found later: {} bytes of answer, the caller had read {seen}",
                text.len()
            ),
        );
        self.expect(
            task.status.state == TaskState::Completed,
            "the task completes by itself",
        );
        self.expect(text.len() > seen, "its answer is whole");
        self.traced("completed", None).await;
        Ok(())
    }

    /// Reads a task until it has ended, for a while.
    async fn ended(&mut self, task_id: &str) -> Result<Task, CallError> {
        let began = Instant::now();
        loop {
            let task = self.client.get_task(&GetTaskRequest::new(task_id)).await?;
            if task.status.state.is_terminal() || began.elapsed() > Duration::from_secs(10) {
                return Ok(task);
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

fn text_of(task: &Task) -> String {
    let parts = task.artifacts.iter().flat_map(|artifact| &artifact.parts);
    parts
        .filter_map(portcullis_a2a::model::Part::as_text)
        .collect()
}
