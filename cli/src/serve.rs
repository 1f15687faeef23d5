use std::{
    error::Error,
    fs,
    io::{self, Write},
    process::ExitCode,
    sync::Arc,
    time::Duration,
};

use portcullis::BoxAgent;
use portcullis_a2a::signing::CardSigner;
use portcullis_layers::{
    ServiceBuilderExt,
    auth::{ApiKeys, AuthLayer},
    budget::{BudgetLayer, Limits, Meter},
    rate_limit::{ByPrincipal, Rate, RateLimitLayer},
    session::SessionDesk,
    timeout::TimeoutLayer,
    trace::TraceLayer,
};
use portcullis_net::Tls;
use portcullis_sqlite::{Database, SqliteSessions};
use tower::ServiceBuilder;

use crate::{
    args::{Engine, ServeArgs},
    complaint::Complaint,
    desk::Desk,
    exec::Exec,
    gate::{About, Gate, Plain, Store, Surroundings},
    guard::Guard,
    log,
    program::itself,
    proxies::Proxies,
    stop::Stop,
    upstream,
};

/// How many turns of a session wait for the one that runs, and how long.
const WAITING: usize = 16;
const WAIT: Duration = Duration::from_secs(60);

/// Serves an agent until the program is asked to stop.
pub(crate) async fn run(args: ServeArgs) -> Result<ExitCode, Complaint> {
    log::start(args.log);
    let database = Store::from_flag(&args.store).open()?;
    let (engine, about) = engine(&args, database.as_ref())?;
    let around = surroundings(&args, database)?;
    let guarded = around.guard.is_some();
    let signed = around
        .signer
        .as_ref()
        .map(|signer| format!("card: signed; verify it with {}\n", signer.jwk()))
        .unwrap_or_default();
    let rate = args.rate.map(rate_limit).transpose()?;
    let name = about.name.clone();
    let sessions = SessionDesk::new();
    let session_gate = sessions
        .gate()
        .queue(WAITING, WAIT)
        .expect("some may wait for some time");
    let agent = ServiceBuilder::new()
        .catch()
        // The second lock: no turn runs for nobody, whichever way it came in.
        .optional(guarded.then(AuthLayer::demand))
        .layer(TraceLayer::new().agent(name.as_str()))
        .session_gate(session_gate)
        .optional(rate)
        .concurrency(args.turns as usize)
        .budget(BudgetLayer::per_turn(Limits::of(
            Meter::ToolCalls,
            args.turn_tools,
        )))
        .clocks(TimeoutLayer::total(Duration::from_secs(args.turn_seconds)))
        .session_window(sessions.window())
        .conform()
        .service(engine);
    let gate = Gate::open(
        &args.listen,
        BoxAgent::new(agent),
        about,
        Some(Arc::new(sessions)),
        around,
    )
    .await?;
    let stop = Stop::on_signals();
    let said = writeln!(
        io::stdout(),
        "{name} is at {url}\nstack: catch, {auth}trace, session gate, {rate}concurrency ({turns} turns), budget ({tools} tools a turn), \
         timeout ({seconds} s a turn), session window, conform\ntasks: {store}\n{signed}{plain}try: {itself} call {url} \"{example}\"",
        itself = itself(),
        url = gate.url(),
        auth = if guarded { "auth (API keys), " } else { "" },
        rate = args
            .rate
            .map(|turns| format!("rate limit ({turns} turns a minute), "))
            .unwrap_or_default(),
        turns = args.turns,
        tools = args.turn_tools,
        seconds = args.turn_seconds,
        store = args.store,
        plain = args
            .plain
            .as_deref()
            .map(|path| format!("turns: {}{}\n", gate.url(), path.trim_start_matches('/')))
            .unwrap_or_default(),
        example = if args.engine == Engine::Desk {
            "what is 12*34?"
        } else {
            "hello"
        },
    );
    // Somebody closed standard output: that is no reason not to serve.
    drop(said);
    Ok(gate.serve(&stop).await)
}

/// Who reaches the agent, and how.
fn surroundings(args: &ServeArgs, database: Option<Database>) -> Result<Surroundings, Complaint> {
    let tls = match (&args.tls_cert, &args.tls_key) {
        (Some(certificate), Some(key)) => Some(
            Tls::from_files(certificate, key)
                .map_err(|error| Complaint::nothing_to_serve("no TLS", error))?,
        ),
        _ => None,
    };
    let guard = match &args.api_keys {
        Some(file) => {
            let keys = ApiKeys::open(file).map_err(|error| {
                Complaint::nothing_to_serve(format!("no API keys in {}", file.display()), error)
            })?;
            Some(Guard::new(keys, &args.require_scope))
        }
        None => None,
    };
    Ok(Surroundings {
        tls,
        url: args.public_url.clone(),
        guard,
        proxies: Proxies::new(&args.trust_proxy),
        signer: signer(args)?,
        webhooks: args.webhooks,
        plain: args.plain.as_ref().map(|path| Plain {
            path: path.clone(),
            grace: args.plain_grace.map(Duration::from_secs),
        }),
        database,
    })
}

/// Who signs the card.
fn signer(args: &ServeArgs) -> Result<Option<CardSigner>, Complaint> {
    let Some(file) = &args.sign_key else {
        return Ok(None);
    };
    let no_key = |error: Box<dyn Error + Send + Sync>| {
        Complaint::nothing_to_serve(format!("no key to sign with in {}", file.display()), error)
    };
    let pem = fs::read_to_string(file).map_err(|error| no_key(error.into()))?;
    let mut signer = CardSigner::from_pem(&pem).map_err(|error| no_key(error.into()))?;
    if let Some(id) = &args.sign_key_id {
        signer = signer.key_id(id);
    }
    Ok(Some(signer))
}

/// So many turns a minute for each principal, or for each address of those whom nobody knows.
fn rate_limit(turns: u32) -> Result<RateLimitLayer<ByPrincipal>, Complaint> {
    let rate = Rate::per_minute(turns)
        .map_err(|error| Complaint::usage(format!("--rate {turns}: {error}")))?;
    Ok(RateLimitLayer::per_principal(rate))
}

fn engine(args: &ServeArgs, database: Option<&Database>) -> Result<(BoxAgent, About), Complaint> {
    if args.engine != Engine::Exec && !args.program.is_empty() {
        return Err(Complaint::usage("a program goes with --engine exec"));
    }
    if args.engine != Engine::Plain && args.upstream.is_some() {
        return Err(Complaint::usage("an upstream goes with --engine plain"));
    }
    match args.engine {
        Engine::Desk => {
            let mut desk = open_desk(&args.dir)?;
            if let Some(database) = database {
                desk = desk.with_sessions(SqliteSessions::new(database.clone()));
            }
            Ok((desk.agent(), about_desk()))
        }
        Engine::Exec => {
            let [program, arguments @ ..] = &args.program[..] else {
                return Err(Complaint::usage(
                    "which program? put it behind two dashes: --engine exec -- PROGRAM ARGS",
                ));
            };
            let exec = Exec::new(program, arguments)
                .in_dir(&args.dir)
                .show_stderr(args.show_stderr);
            exec.check()
                .map_err(|error| Complaint::nothing_to_serve("the program cannot be run", error))?;
            let name = program.to_string_lossy().into_owned();
            let about = About {
                description: format!("Passes a message to {name} and answers what that prints."),
                name,
                examples: Vec::new(),
            };
            Ok((exec.agent(), about))
        }
        Engine::Plain => {
            let url = args.upstream.as_deref().ok_or_else(|| {
                Complaint::usage("which agent? say --upstream http://127.0.0.1:8080/v1/turns")
            })?;
            let agent = upstream::agent(url, args.upstream_ca.as_deref())?;
            let about = About {
                name: "gate".to_owned(),
                description: "Passes a message on to an agent behind it.".to_owned(),
                examples: Vec::new(),
            };
            Ok((agent, about))
        }
    }
}

pub(crate) fn open_desk(dir: &std::path::Path) -> Result<Desk, Complaint> {
    Desk::open(dir).map_err(|error| {
        Complaint::nothing_to_serve(format!("no directory {}", dir.display()), error)
    })
}

pub(crate) fn about_desk() -> About {
    About {
        name: "desk".to_owned(),
        description: "Answers questions about one directory, and does small sums. Not a model."
            .to_owned(),
        examples: vec![
            "how many lines of Rust are in this directory, and what is that times 12?",
            "find TODO in src",
            "what is 12*34, and that in hex?",
        ],
    }
}
