//! One message to an agent, and its answer as it comes.

mod connect;
mod printer;

use std::{env, io, process::ExitCode};

use futures_util::StreamExt;
use http::HeaderValue;
use portcullis_a2a::{
    client::CallError,
    model::{
        CancelTaskRequest, Message, Part, SendMessageRequest, SendMessageResponse, StreamResponse,
        TaskState,
    },
};

pub(crate) use self::connect::{address, complain, connect, http_client};
use self::printer::Printer;
use crate::{
    args::CallArgs,
    complaint::Complaint,
    exit::{INTERRUPTED, READER_GONE},
    stop::Stop,
};

/// Sends the message and prints what comes. Ctrl-C cancels the task, and so does a reader of the
/// answer that goes away, `head` for instance.
pub(crate) async fn run(args: CallArgs) -> Result<ExitCode, Complaint> {
    let connected = connect(&args.url, args.ca.as_deref(), key_of_environment()?).await?;
    let request = SendMessageRequest::new(message(&args));
    let stop = Stop::on_signals();
    let mut printer = Printer::new(io::stdout(), args.json);
    let mut task_id = None;
    let mut follow = Box::pin(async {
        if !connected.streams {
            let answer = connected.client.send_message(&request).await?;
            let shown = printer.show(&match answer {
                SendMessageResponse::Task(task) => StreamResponse::Task(task),
                SendMessageResponse::Message(message) => StreamResponse::Message(message),
                other => unreachable!("the two answers that there are, not {other:?}"),
            });
            return Ok(shown.and_then(|()| printer.end()));
        }
        let mut events = connected.client.send_streaming_message(&request).await?;
        while let Some(event) = events.next().await {
            let event = event?;
            task_id = events.task_id().map(str::to_owned);
            if let Err(error) = printer.show(&event.response) {
                return Ok(Err(error));
            }
        }
        Ok::<_, CallError>(printer.end())
    });
    let cut = tokio::select! {
        followed = &mut follow => match followed.map_err(|error| complain(&args.url, error))? {
            Ok(()) => None,
            Err(_) => Some(READER_GONE),
        },
        () = stop.asked() => Some(INTERRUPTED),
    };
    drop(follow);
    if let Some(code) = cut {
        // A task that has ended needs no cancelling.
        let runs = printer.state().is_some_and(|state| !state.is_terminal());
        if let Some(task_id) = task_id.filter(|_| runs) {
            let request = CancelTaskRequest::new(task_id);
            tokio::select! {
                cancelled = connected.client.cancel_task(&request) => {
                    cancelled.map_err(|error| complain(&args.url, error))?;
                }
                () = stop.asked_again() => {}
            }
        }
        return Ok(ExitCode::from(code));
    }
    match printer.state() {
        Some(TaskState::Completed | TaskState::InputRequired | TaskState::AuthRequired) | None => {
            Ok(ExitCode::SUCCESS)
        }
        Some(state) => {
            let why = printer.status_text().unwrap_or("the agent did not say why");
            Err(Complaint::failed(format!("{}: {why}", state.as_str())))
        }
    }
}

/// Not an argument: those are there for everybody to see.
pub(crate) fn key_of_environment() -> Result<Option<HeaderValue>, Complaint> {
    let Some(key) = env::var_os("PORTCULLIS_KEY").filter(|key| !key.is_empty()) else {
        return Ok(None);
    };
    let bearer = key
        .to_str()
        .and_then(|key| HeaderValue::from_str(&format!("Bearer {}", key.trim())).ok());
    let mut bearer = bearer.ok_or_else(|| Complaint::usage("PORTCULLIS_KEY holds no key"))?;
    bearer.set_sensitive(true);
    Ok(Some(bearer))
}

fn message(args: &CallArgs) -> Message {
    let id = uuid::Uuid::now_v7().to_string();
    let mut message = Message::user(id, [Part::text(args.text.as_str())]);
    message.context_id = args.context.clone().unwrap_or_default();
    message.task_id = args.task.clone().unwrap_or_default();
    message
}
