//! The tasks of an agent, as its caller may see them.

mod show;

use std::{
    io::{self, Write},
    process::ExitCode,
};

use portcullis_a2a::{
    client::{CallError, Client, Transport},
    model::{CancelTaskRequest, GetTaskRequest, ListTasksRequest, TaskState},
};

use crate::{
    args::{ListArgs, TaskArgs, TasksArgs, TasksCommand},
    call::{complain, connect, key_of_environment},
    complaint::Complaint,
    stop::Stop,
};

/// Lists, reads or cancels. Ctrl-C ends it; nothing is left half done.
pub(crate) async fn run(args: TasksArgs) -> Result<ExitCode, Complaint> {
    let stop = Stop::on_signals();
    tokio::select! {
        done = carry_out(&args.command) => done,
        () = stop.asked() => Ok(ExitCode::from(130)),
    }
}

async fn carry_out(command: &TasksCommand) -> Result<ExitCode, Complaint> {
    let to = match command {
        TasksCommand::List(args) => &args.to,
        TasksCommand::Get(args) | TasksCommand::Cancel(args) => &args.to,
    };
    let client = connect(&to.url, to.ca.as_deref(), key_of_environment()?)
        .await?
        .client;
    let shown = match command {
        TasksCommand::List(args) => list(&client, args).await,
        TasksCommand::Get(args) => get(&client, args).await,
        TasksCommand::Cancel(args) => cancel(&client, args).await,
    };
    // Nobody reads any more: that is no news.
    shown
        .map_err(|error| complain(&to.url, error))?
        .map_or(Ok(ExitCode::from(141)), |()| Ok(ExitCode::SUCCESS))
}

/// Pages are read until there is no more, or enough.
async fn list<T: Transport>(client: &Client<T>, args: &ListArgs) -> Result<Option<()>, CallError> {
    let mut request = ListTasksRequest::new();
    request.context_id = args.context.clone().unwrap_or_default();
    request.status = args.state.unwrap_or(TaskState::Unknown);
    let mut left = args.limit as usize;
    while left > 0 {
        request.page_size = Some(i32::try_from(left.min(PAGE)).expect("a page is small"));
        let page = client.list_tasks(&request).await?;
        for task in page.tasks.iter().take(left) {
            let line = if args.to.json {
                show::json(task)
            } else {
                show::line(task)
            };
            if print(&line).is_err() {
                return Ok(None);
            }
        }
        left = left.saturating_sub(page.tasks.len());
        // A server that stands still is not asked for ever.
        if page.next_page_token.is_empty()
            || page.tasks.is_empty()
            || page.next_page_token == request.page_token
        {
            break;
        }
        request.page_token = page.next_page_token;
    }
    Ok(Some(()))
}

async fn get<T: Transport>(client: &Client<T>, args: &TaskArgs) -> Result<Option<()>, CallError> {
    let task = client.get_task(&GetTaskRequest::new(&*args.id)).await?;
    let text = if args.to.json {
        show::json(&task)
    } else {
        show::whole(&task)
    };
    Ok(print(&text).ok())
}

async fn cancel<T: Transport>(
    client: &Client<T>,
    args: &TaskArgs,
) -> Result<Option<()>, CallError> {
    let task = client
        .cancel_task(&CancelTaskRequest::new(&*args.id))
        .await?;
    let text = if args.to.json {
        show::json(&task)
    } else {
        show::line(&task)
    };
    Ok(print(&text).ok())
}

fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout();
    writeln!(out, "{text}")?;
    out.flush()
}

/// The most that a server has to put into a page (A2A `ListTasks`).
const PAGE: usize = 100;
