//! The built-in agent behind a stack of layers, called over HTTP as another agent would
//! call it.
//!
//! Every line that the drive prints is made from a frame that was received, or from what
//! a layer recorded; and each of its turns fails when a layer of the stack is left out.

mod caller;
mod drive;
mod stack;
mod transcript;
mod witness;

use std::{
    io::{self, Write},
    process::ExitCode,
};

use tracing_subscriber::layer::SubscriberExt;

use self::{stack::Stack, transcript::Transcript, witness::Witness};
use crate::{
    args::DemoArgs,
    call::connect,
    complaint::Complaint,
    exit::INTERRUPTED,
    gate::{Gate, Store, Surroundings},
    program::itself,
    serve::{about_desk, open_desk},
    stop::Stop,
};

pub(crate) async fn run(args: DemoArgs) -> Result<ExitCode, Complaint> {
    let witness = Witness::new();
    let subscriber = tracing_subscriber::registry().with(witness.clone());
    tracing::subscriber::set_global_default(subscriber)
        .map_err(|error| Complaint::nothing_to_serve("no place to listen to layers", error))?;

    let desk = open_desk(&args.dir)?;
    if !desk.has_files(LEAST_FILES) {
        return Err(Complaint::usage(format!(
            "the demo interrupts scans, so it needs a directory with at least {LEAST_FILES} files, \
             hidden ones not counted; {} has fewer: choose another with --dir",
            args.dir.display()
        )));
    }
    let stack = Stack::without(args.without);
    let place = tempfile::tempdir()
        .map_err(|error| Complaint::nothing_to_serve("no place for tasks", error))?;
    let file = place.path().join("tasks.sqlite");
    let agent = stack.around(desk.agent());
    let around = Surroundings {
        database: Store::File(file.clone()).open()?,
        ..Surroundings::default()
    };
    let gate = Gate::open(&args.listen, agent, about_desk(), None, around).await?;
    let url = gate.url();
    let stop = Stop::on_signals();

    let mut transcript = Transcript::new(io::stdout());
    transcript.head(&[
        (
            "agent",
            &format!("desk, which reads {}", args.dir.display()),
        ),
        ("stack", &stack.to_string()),
        ("a2a", &url),
        ("tasks", &file.display().to_string()),
    ]);
    let mut serving = std::pin::pin!(gate.serve(&stop));
    let drive = async {
        let connected = connect(&url, None, None).await?;
        let client = connected
            .client
            .extensions([portcullis_a2a::server::EVENTS_EXTENSION]);
        Ok::<_, Complaint>(drive::drive(&client, &desk.gauge(), &witness, &mut transcript).await)
    };
    let wrong = tokio::select! {
        wrong = drive => wrong,
        _ = &mut serving => return Ok(ExitCode::from(INTERRUPTED)),
    };
    if stop.was_asked() {
        // What broke then broke for that.
        return Ok(ExitCode::from(INTERRUPTED));
    }
    let wrong = wrong?;
    if wrong.is_empty() {
        transcript.note("all turns came out as said");
    } else {
        for what in &wrong {
            transcript.note(&format!("not as said: {what}"));
        }
    }
    if args.once || !wrong.is_empty() {
        return match wrong.len() {
            0 => Ok(ExitCode::SUCCESS),
            n => Err(Complaint::failed(format!(
                "{n} of the things above did not come out as said"
            ))),
        };
    }
    let said = writeln!(io::stdout(), "{}", what_next(&url));
    if said.is_err() {
        // Somebody closed standard output, `head` for instance: nobody knows that it serves.
        return Ok(ExitCode::SUCCESS);
    }
    Ok(serving.await)
}

/// Fewer are scanned before anybody can cut in.
const LEAST_FILES: usize = 8;

fn what_next(url: &str) -> String {
    format!(
        r#"
Still serving, until Ctrl-C. In another terminal, a question from any A2A client:

  curl -N {url} -H 'Content-Type: application/json' -H 'A2A-Version: 1.0' -d '
    {{"jsonrpc":"2.0","id":1,"method":"SendStreamingMessage","params":{{"message":{{
      "messageId":"m-1","role":"ROLE_USER","parts":[{{"text":"what is 12*34, and that in hex?"}}]}}}}}}'

or with this program:

  {itself} call {url} "what is the longest file?"

The same for an agent of your own, here any program that reads its standard input:

  {itself} serve --engine exec -- tr a-z A-Z"#,
        itself = itself(),
    )
}
