//! The tasks of an agent, as its caller may see them.

mod show;

use std::{
    io::{self, Write},
    process::ExitCode,
};

use portcullis_a2a::{
    client::{CallError, Client, Transport},
    model::{CancelTaskRequest, GetTaskRequest, ListTasksRequest, Task, TaskState},
};

use crate::{
    args::{ListArgs, TasksArgs, TasksCommand},
    call::{complain, connect, key_of_environment},
    complaint::Complaint,
    exit::{INTERRUPTED, READER_GONE},
    stop::Stop,
};

/// Lists, reads or cancels. Ctrl-C ends it; nothing is left half done.
pub(crate) async fn run(args: TasksArgs) -> Result<ExitCode, Complaint> {
    let stop = Stop::on_signals();
    tokio::select! {
        done = carry_out(&args.command) => done,
        () = stop.asked() => Ok(ExitCode::from(INTERRUPTED)),
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
    let printed = match command {
        TasksCommand::List(args) => list(&client, args).await,
        TasksCommand::Get(args) => client
            .get_task(&GetTaskRequest::new(&*args.id))
            .await
            .map(|task| print(&task, to.json, show::whole)),
        TasksCommand::Cancel(args) => client
            .cancel_task(&CancelTaskRequest::new(&*args.id))
            .await
            .map(|task| print(&task, to.json, show::line)),
    };
    Ok(match printed.map_err(|error| complain(&to.url, error))? {
        Ok(()) => ExitCode::SUCCESS,
        // Nobody reads any more: that is no news.
        Err(_) => ExitCode::from(READER_GONE),
    })
}

/// Pages are read until there is no more, or enough.
async fn list<T: Transport>(
    client: &Client<T>,
    args: &ListArgs,
) -> Result<io::Result<()>, CallError> {
    let mut request = ListTasksRequest::new();
    request.context_id = args.context.clone().unwrap_or_default();
    request.status = args.state.unwrap_or(TaskState::Unknown);
    let mut left = args.limit as usize;
    while left > 0 {
        request.page_size = Some(i32::try_from(left.min(PAGE)).expect("a page is small"));
        let page = client.list_tasks(&request).await?;
        for task in page.tasks.iter().take(left) {
            if let Err(error) = print(task, args.to.json, show::line) {
                return Ok(Err(error));
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
    Ok(Ok(()))
}

/// As JSON, or in a form for people.
fn print(task: &Task, json: bool, form: fn(&Task) -> String) -> io::Result<()> {
    let text = if json { show::json(task) } else { form(task) };
    let mut out = io::stdout();
    writeln!(out, "{text}")?;
    out.flush()
}

/// The most that a server has to put into a page (A2A `ListTasks`).
const PAGE: usize = 100;
