use std::{ffi::OsString, path::PathBuf};

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};

use portcullis_a2a::model::TaskState;

use crate::{log::LogForm, proxies::Network};

/// Puts an agent behind the gate, or calls one.
#[derive(Debug, Parser)]
#[command(name = "portcullis", version, about, long_about = None, after_help = EXIT_CODES)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXIT_CODES: &str = "\
Exit codes:
  0    it went well
  1    the turn failed, the demo did not come out as said, or the card is not good
  2    the arguments make no sense
  3    the server cannot be reached, or speaks something else
  4    there is nothing to serve: the address, the store, the directory or the program
  130  interrupted
  141  the reader of the answer went away; the turn was cancelled";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serve the built-in agent behind a stack of layers, call it over HTTP, and show what
    /// each layer does.
    Demo(DemoArgs),
    /// Serve an agent over A2A, and over the plain edge where that is asked for.
    ///
    /// If the environment has PORTCULLIS_KEY, that API key is sent along to the --upstream.
    Serve(Box<ServeArgs>),
    /// Send one message to an agent and print its answer as it comes.
    ///
    /// If the environment has PORTCULLIS_KEY, that API key is sent along, to the very address
    /// that was given and to no other one that a card may name.
    Call(CallArgs),
    /// List, read or cancel the tasks of an agent. PORTCULLIS_KEY is sent along as with `call`.
    Tasks(TasksArgs),
    /// Print the card of an agent, and what is wrong with it: from the address of the agent, or from a
    /// file. PORTCULLIS_KEY is sent along as with `call`.
    Card(CardArgs),
    /// Make an API key: its line goes into a file for `serve --api-keys`, which may be in use, and
    /// the key is printed, this once.
    Key(KeyArgs),
}

#[derive(ClapArgs, Debug)]
pub(crate) struct DemoArgs {
    /// End after the drive; the exit code is 0 only if every turn came out as said.
    #[arg(long)]
    pub(crate) once: bool,
    /// The directory that the agent answers about.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) dir: PathBuf,
    /// Where to listen; port 0 takes a free one.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:0")]
    pub(crate) listen: String,
    /// Leave a layer out, to see the drive fail.
    #[arg(long, value_name = "LAYER", hide = true)]
    pub(crate) without: Option<Piece>,
}

/// A layer of the demo's stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Piece {
    Trace,
    Concurrency,
    Budget,
    Timeout,
}

#[derive(ClapArgs, Debug)]
pub(crate) struct ServeArgs {
    /// Where to listen; port 0 takes a free one.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8080")]
    pub(crate) listen: String,
    /// What answers.
    #[arg(long, value_name = "desk|exec|plain")]
    pub(crate) engine: Engine,
    /// The address of the turns that `plain` passes on to: http://127.0.0.1:8080/v1/turns for instance.
    #[arg(long, value_name = "URL")]
    pub(crate) upstream: Option<String>,
    /// Trust the certificates of this file too when calling the upstream, a PEM file.
    #[arg(long, value_name = "FILE", requires = "upstream")]
    pub(crate) upstream_ca: Option<PathBuf>,
    /// The directory that `desk` answers about, and in which `exec` runs its program.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) dir: PathBuf,
    /// Where tasks, and the sessions of `desk`, live: a file, or `memory`.
    #[arg(long, value_name = "FILE|memory", default_value = "memory")]
    pub(crate) store: String,
    /// The address that callers reach this server at, for the card, if it is another one.
    #[arg(long, value_name = "URL")]
    pub(crate) public_url: Option<String>,
    /// Serve turns at this path too, as they are: a POST of a scope and a prompt, and the events as
    /// server-sent events or JSON lines.
    #[arg(
        long, value_name = "PATH", value_parser = turns_path,
        num_args = 0..=1, require_equals = true, default_missing_value = "/v1/turns"
    )]
    pub(crate) plain: Option<String>,
    /// For how many seconds a turn of the plain edge may go on without its caller, if that asks for it.
    #[arg(long, value_name = "SECONDS", requires = "plain", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) plain_grace: Option<u64>,
    /// Sign the card with this private key: P-256 or Ed25519, a PEM file, as
    /// `openssl genpkey -algorithm ed25519` writes it. What verifies it is printed.
    #[arg(long, value_name = "FILE")]
    pub(crate) sign_key: Option<PathBuf>,
    /// The id of that key, if not its thumbprint.
    #[arg(long, value_name = "ID", requires = "sign_key")]
    pub(crate) sign_key_id: Option<String>,
    /// Serve over TLS with this certificate, a PEM file with its chain; it is read again when it
    /// changes.
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// The key of the certificate, a PEM file.
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
    /// Let only those in who have a key of this file; `portcullis key` makes them. It is read
    /// again when it changes.
    #[arg(long, value_name = "FILE")]
    pub(crate) api_keys: Option<PathBuf>,
    /// Let only those in whose key has this scope; more than one may be given.
    #[arg(long, value_name = "SCOPE", requires = "api_keys")]
    pub(crate) require_scope: Vec<String>,
    /// Post the updates of tasks to webhooks that callers register: at public addresses over https
    /// only, or anywhere.
    #[arg(long, value_name = "public|private")]
    pub(crate) webhooks: Option<Webhooks>,
    /// How many turns a minute a caller may begin: the holder of a key, or an address where nobody
    /// needs one. More are refused, and told when to come again.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) rate: Option<u32>,
    /// Believe this proxy on where a request comes from (X-Forwarded-For): an address or a network,
    /// such as 10.0.0.0/8; more than one may be given.
    #[arg(long, value_name = "ADDR")]
    pub(crate) trust_proxy: Vec<Network>,
    /// How many turns run at once; more wait.
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) turns: u32,
    /// How many seconds a turn may take.
    #[arg(long, value_name = "SECONDS", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) turn_seconds: u64,
    /// How many tools a turn may call.
    #[arg(long, value_name = "N", default_value_t = 256)]
    pub(crate) turn_tools: u64,
    /// How the log on standard error is written: a short line each, or a JSON object a line.
    #[arg(long, value_name = "text|json", default_value = "text")]
    pub(crate) log: LogForm,
    /// Tell callers what a failing program of `exec` wrote to its standard error.
    #[arg(long)]
    pub(crate) show_stderr: bool,
    /// The program of `exec`, and its arguments.
    #[arg(last = true, value_name = "PROGRAM ARGS")]
    pub(crate) program: Vec<OsString>,
}

/// Where webhooks may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Webhooks {
    /// At public addresses, over https.
    Public,
    /// Anywhere, this machine included: for networks of one's own, and for tests.
    Private,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Engine {
    /// The built-in agent: answers about a directory and does sums. No model, no key.
    Desk,
    /// A command-line program: the prompt on its standard input, the answer on its output.
    Exec,
    /// An agent that somebody serves over the plain edge.
    Plain,
}

/// A path that A2A has no use for.
fn turns_path(path: &str) -> Result<String, &'static str> {
    let is_path = path.len() > 1 && path.starts_with('/') && !path.contains(['?', '#', ' ']);
    let first = path.split('/').nth(1).unwrap_or_default();
    if !is_path || ["rest", ".well-known", "lf.a2a.v1.A2AService"].contains(&first) {
        return Err("say a path that A2A has no use for, such as /v1/turns");
    }
    Ok(path.to_owned())
}

#[derive(ClapArgs, Debug)]
pub(crate) struct CallArgs {
    /// The address of the agent: where its card is.
    #[arg(value_name = "URL")]
    pub(crate) url: String,
    /// What to say.
    #[arg(value_name = "TEXT")]
    pub(crate) text: String,
    /// Print the frames, one JSON object a line.
    #[arg(long)]
    pub(crate) json: bool,
    /// Go on in a conversation.
    #[arg(long, value_name = "ID")]
    pub(crate) context: Option<String>,
    /// Trust the certificates of this file too, a PEM file: those of a private network.
    #[arg(long, value_name = "FILE")]
    pub(crate) ca: Option<PathBuf>,
    /// Answer a task that asked back.
    #[arg(long, value_name = "ID")]
    pub(crate) task: Option<String>,
}

#[derive(ClapArgs, Debug)]
pub(crate) struct TasksArgs {
    #[command(subcommand)]
    pub(crate) command: TasksCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TasksCommand {
    /// Print a line for each task, newest first.
    List(ListArgs),
    /// Print a task: what was said, and what came out.
    Get(TaskArgs),
    /// Ask a task to stop, and print how it stands then.
    Cancel(TaskArgs),
}

#[derive(ClapArgs, Debug)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    pub(crate) to: ToArgs,
    /// Only tasks of this conversation.
    #[arg(long, value_name = "ID")]
    pub(crate) context: Option<String>,
    /// Only tasks in this state: working, input-required, completed, failed and so on.
    #[arg(long, value_name = "STATE", value_parser = state)]
    pub(crate) state: Option<TaskState>,
    /// How many at most; more than one page is read where it takes that.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: u32,
}

#[derive(ClapArgs, Debug)]
pub(crate) struct TaskArgs {
    #[command(flatten)]
    pub(crate) to: ToArgs,
    /// Which task.
    #[arg(value_name = "TASK")]
    pub(crate) id: String,
}

/// Which agent, and in which form to print what it says.
#[derive(ClapArgs, Debug)]
pub(crate) struct ToArgs {
    /// The address of the agent: where its card is.
    #[arg(value_name = "URL")]
    pub(crate) url: String,
    /// Print each task as a JSON object on a line.
    #[arg(long)]
    pub(crate) json: bool,
    /// Trust the certificates of this file too, a PEM file: those of a private network.
    #[arg(long, value_name = "FILE")]
    pub(crate) ca: Option<PathBuf>,
}

fn state(word: &str) -> Result<TaskState, String> {
    let name = word.to_ascii_uppercase().replace('-', "_");
    TaskState::from_name(&format!("TASK_STATE_{name}"))
        .filter(|state| *state != TaskState::Unknown)
        .ok_or_else(|| "say for instance working, input-required, completed or failed".to_owned())
}

#[derive(ClapArgs, Debug)]
pub(crate) struct CardArgs {
    /// The address of the agent, or a file.
    #[arg(value_name = "URL|FILE")]
    pub(crate) card: String,
    /// Print the card as it is, in JSON. What is wrong with it goes to standard error, as without.
    #[arg(long)]
    pub(crate) json: bool,
    /// Believe only a card that is signed by one of the --key.
    #[arg(long, requires = "key")]
    pub(crate) verify: bool,
    /// The public keys to believe: a file with a JSON Web Key, or a set of them.
    #[arg(long, value_name = "FILE", requires = "verify")]
    pub(crate) key: Option<PathBuf>,
    /// Trust the certificates of this file too, a PEM file: those of a private network.
    #[arg(long, value_name = "FILE")]
    pub(crate) ca: Option<PathBuf>,
}

#[derive(ClapArgs, Debug)]
pub(crate) struct KeyArgs {
    /// The file, which is made if it is not there.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Whose key it is: one word. Keys of the same name are the same caller.
    #[arg(value_name = "NAME")]
    pub(crate) subject: String,
    /// What its holder may do, one word each: what `serve --require-scope` asks for.
    #[arg(value_name = "SCOPES")]
    pub(crate) scopes: Vec<String>,
}
