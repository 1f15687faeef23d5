use std::{
    env,
    io::{self, Write},
    path::Path,
    process::ExitCode,
    time::Duration,
};

use clap::Parser;

use crate::{
    args::{Args, Command},
    call, card,
    complaint::Complaint,
    demo, key, serve, tasks,
};

/// Runs the program with the arguments of the process.
///
/// | exit code | |
/// |---|---|
/// | 0 | it went well |
/// | 1 | the turn failed, the demo did not come out as said, or the card is not good |
/// | 2 | the arguments make no sense |
/// | 3 | the server cannot be reached, or speaks something else |
/// | 4 | there is nothing to serve: the address, the store, the directory or the program |
/// | 130 | interrupted |
/// | 141 | the reader of the answer went away; the turn was cancelled |
#[must_use]
pub fn run() -> ExitCode {
    let args = Args::parse();
    let runtime = match tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => return say(&Complaint::nothing_to_serve("no threads to run on", error)),
    };
    let done = runtime.block_on(async {
        match args.command {
            Command::Demo(args) => demo::run(args).await,
            Command::Serve(args) => serve::run(*args).await,
            Command::Call(args) => call::run(args).await,
            Command::Tasks(args) => tasks::run(args).await,
            Command::Card(args) => card::run(args).await,
            Command::Key(args) => key::run(&args),
        }
    });
    // Tasks are dropped now; a thread that is busy in a file is not waited for.
    runtime.shutdown_timeout(Duration::from_secs(1));
    match done {
        Ok(code) => code,
        Err(complaint) => say(&complaint),
    }
}

fn say(complaint: &Complaint) -> ExitCode {
    // Nobody is left to tell when standard error is gone too.
    let _ = writeln!(io::stderr(), "portcullis: {complaint}");
    complaint.exit_code()
}

/// How to call this program: its name where it was found by name, else where it is, so that
/// what we say can be pasted after `cargo run` too.
pub(crate) fn itself() -> String {
    let by_name = env::args_os()
        .next()
        .is_none_or(|name| Path::new(&name).components().count() == 1);
    let place = (!by_name).then(env::current_exe).and_then(Result::ok);
    match place.as_deref().and_then(Path::to_str) {
        Some(place) if !place.contains([' ', '\'', '"', '\\', '$']) => place.to_owned(),
        _ => "portcullis".to_owned(),
    }
}
