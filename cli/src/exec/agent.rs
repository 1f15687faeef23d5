use std::{
    error::Error,
    ffi::{OsStr, OsString},
    fmt, io,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Stdio,
    sync::Arc,
    time::Duration,
};

use portcullis::{AgentEvent, BoxAgent, Completed, Emitter, Failure, Prompt, Scope, agent_fn_with};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWriteExt},
    process::Command,
    sync::watch,
    time::timeout,
};

use super::{
    failure,
    group::Group,
    output::{Output, Reader},
    stderr::Errors,
};

/// A command-line program as an agent. See the module docs.
#[derive(Clone, Debug)]
pub struct Exec(Arc<Config>);

#[derive(Clone, Debug)]
struct Config {
    program: OsString,
    args: Vec<OsString>,
    dir: Option<PathBuf>,
    output: Output,
    show_stderr: bool,
}

/// How long output may still trickle in after the program has exited, from a process
/// that left the group and kept the pipe.
const AFTER_EXIT: Duration = Duration::from_millis(200);
/// How long a program that printed `completed` may take to exit.
const AFTER_COMPLETED: Duration = Duration::from_secs(5);
const CHUNK: usize = 8 * 1024;

impl Exec {
    /// Runs a program, which is looked for in `PATH` where its name has no slash.
    #[must_use]
    pub fn new<A: Into<OsString>>(
        program: impl Into<OsString>,
        args: impl IntoIterator<Item = A>,
    ) -> Self {
        Self(Arc::new(Config {
            program: program.into(),
            args: args.into_iter().map(Into::into).collect(),
            dir: None,
            output: Output::Auto,
            show_stderr: false,
        }))
    }

    /// The directory that it runs in.
    #[must_use]
    pub fn in_dir(mut self, dir: impl Into<PathBuf>) -> Self {
        Arc::make_mut(&mut self.0).dir = Some(dir.into());
        self
    }

    /// Says what the program prints.
    #[must_use]
    pub fn output(mut self, output: Output) -> Self {
        Arc::make_mut(&mut self.0).output = output;
        self
    }

    /// Whether a failure shows the caller the end of standard error.
    #[must_use]
    pub fn show_stderr(mut self, show: bool) -> Self {
        Arc::make_mut(&mut self.0).show_stderr = show;
        self
    }

    /// Checks that there is such a program, so that an operator hears it at once.
    ///
    /// # Errors
    /// When there is none, or it may not be run.
    pub fn check(&self) -> Result<(), NotRunnable> {
        let program = &self.0.program;
        let error = |reason| NotRunnable {
            program: program.clone(),
            reason,
        };
        let runnable = |path: &Path| {
            path.metadata()
                .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
        };
        if Path::new(program).components().count() > 1 {
            let path = self.0.dir.as_deref().unwrap_or(Path::new("")).join(program);
            return match path.metadata() {
                Err(_) => Err(error("there is no such file")),
                Ok(_) if !runnable(&path) => Err(error("it is not a program that may be run")),
                Ok(_) => Ok(()),
            };
        }
        let path = std::env::var_os("PATH").unwrap_or_default();
        let found = std::env::split_paths(&path).any(|dir| runnable(&dir.join(program)));
        if found {
            Ok(())
        } else {
            Err(error("it is not in PATH"))
        }
    }

    /// The agent.
    ///
    /// # Cancel safety
    /// Dropping the events kills the program and its process group.
    #[must_use]
    pub fn agent(&self) -> BoxAgent {
        BoxAgent::new(agent_fn_with(Arc::clone(&self.0), turn))
    }
}

/// There is no such program.
#[derive(Debug)]
pub struct NotRunnable {
    program: OsString,
    reason: &'static str,
}

impl fmt::Display for NotRunnable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "cannot run \"{}\": {}",
            self.program.display(),
            self.reason
        )
    }
}

impl Error for NotRunnable {}

async fn turn(
    config: Arc<Config>,
    scope: Scope,
    prompt: Prompt,
    out: Emitter,
) -> Result<Completed, Failure> {
    let mut command = Command::new(&config.program);
    command
        .args(&config.args)
        .process_group(0)
        .kill_on_drop(true)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    if let Some(dir) = &config.dir {
        command.current_dir(dir);
    }
    // A zero byte cannot be in a variable.
    if !scope.session().contains('\0') {
        command.env("PORTCULLIS_SESSION", OsStr::new(scope.session()));
    }
    let mut child = command.spawn().map_err(failure::not_started)?;
    // Dropped before the child: the group goes while its number is still taken.
    let mut group = Group::of(child.id());
    let missing = || failure::not_read(io::ErrorKind::BrokenPipe.into());
    let mut stdin = child.stdin.take().ok_or_else(missing)?;
    let stdout = child.stdout.take().ok_or_else(missing)?;
    let stderr = child.stderr.take().ok_or_else(missing)?;
    let gone = watch::Sender::new(false);

    let feed = async {
        let mut gone = gone.subscribe();
        tokio::select! {
            // A program need not read what it was told.
            written = stdin.write_all(prompt.as_text().as_bytes()) => drop(written),
            () = set(&mut gone) => {}
        }
        drop(stdin);
        Ok::<(), Failure>(())
    };
    let listen = async {
        let mut errors = Errors::default();
        let mut pipe = Pipe::new(stderr, &gone);
        // Not being able to read it is no reason to fail.
        while let Ok(Some(bytes)) = pipe.read().await {
            errors.push(bytes);
        }
        Ok(errors.finish())
    };
    let said_completed = watch::Sender::new(false);
    let speak = async {
        let mut reader = Reader::new(config.output);
        let mut pipe = Pipe::new(stdout, &gone);
        let mut completed = None;
        while let Some(bytes) = pipe.read().await.map_err(failure::not_read)? {
            let mut events = Vec::new();
            let read = reader.push(bytes, &mut events);
            say(events, &out, &mut completed, &said_completed).await?;
            read?;
        }
        say(reader.finish()?, &out, &mut completed, &said_completed).await?;
        Ok(completed)
    };
    let exit = async {
        let mut completed = said_completed.subscribe();
        let late = async {
            set(&mut completed).await;
            tokio::time::sleep(AFTER_COMPLETED).await;
        };
        let status = tokio::select! {
            status = child.wait() => Some(status.map_err(failure::not_read)?),
            () = late => None,
        };
        group.kill();
        gone.send_replace(true);
        Ok(status)
    };
    let ((), stderr, completed, status) = tokio::try_join!(feed, listen, speak, exit)?;
    match status {
        Some(status) if !status.success() => Err(failure::exited(
            status,
            config.show_stderr.then_some(stderr.as_str()),
        )),
        // It had said that it was done, and did not go.
        _ => Ok(completed.unwrap_or_default()),
    }
}

/// Emits events. `completed` waits until the program has exited; what comes after it is
/// nobody's.
async fn say(
    events: Vec<AgentEvent>,
    out: &Emitter,
    completed: &mut Option<Completed>,
    said_completed: &watch::Sender<bool>,
) -> Result<(), Failure> {
    for event in events {
        if completed.is_some() {
            tracing::warn!("the program prints events after its `completed`");
            return Ok(());
        }
        match event {
            AgentEvent::Completed(event) => {
                *completed = Some(event);
                said_completed.send_replace(true);
            }
            AgentEvent::Failed(failure) => return Err(failure),
            event => out.emit(event).await,
        }
    }
    Ok(())
}

/// Waits until a flag is set. Its sender lives as long as the turn.
async fn set(flag: &mut watch::Receiver<bool>) {
    drop(flag.wait_for(|set| *set).await);
}

/// Reads to the end, or until the program is gone and nothing more comes.
struct Pipe<R> {
    pipe: R,
    gone: watch::Receiver<bool>,
    chunk: Box<[u8]>,
}

impl<R: AsyncRead + Unpin> Pipe<R> {
    fn new(pipe: R, gone: &watch::Sender<bool>) -> Self {
        Self {
            pipe,
            gone: gone.subscribe(),
            chunk: vec![0; CHUNK].into(),
        }
    }

    async fn read(&mut self) -> io::Result<Option<&[u8]>> {
        let Self { pipe, gone, chunk } = self;
        let length = tokio::select! {
            biased;
            length = pipe.read(chunk) => length?,
            () = set(gone) => match timeout(AFTER_EXIT, pipe.read(chunk)).await {
                Ok(length) => length?,
                Err(_) => 0,
            },
        };
        Ok((length > 0).then(|| &chunk[..length]))
    }
}
