use std::{io, path::Path, time::Duration};

use num_rational::BigRational;
use portcullis::{
    AgentEvent, BoxAgent, Emitter, Extension, Failure, FailureCode, Json, Prompt, Scope,
    agent_fn_with,
};
use portcullis_sqlite::SqliteSessions;
use serde_json::{Value, json};

use super::{
    answer,
    files::{FileError, Limits, Place, Root},
    gauge::Gauge,
    grammar::{self, CountWhat, NotUnderstood, Read, Request, Scan, Span, Subject},
    memory::{self, Memory, Recall},
    tools::{self, Outcome, Piece, Progress, ScanJob, ToolError},
    workers::{Stop, Workers},
};

/// The built-in agent. See the module docs.
///
/// ```
/// use portcullis::{AgentExt, Scope, collect};
/// use portcullis_cli::desk::Desk;
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let desk = Desk::open(".")?;
/// let events = desk.agent().invoke(Scope::new("s"), "what is 12*34, and that in hex?".into());
/// let answer = collect(events).await?;
/// assert_eq!(answer.text, "12 * 34 = 408.\n408 in hexadecimal is 0x198.");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Desk {
    root: Root,
    memory: Memory,
    workers: Workers,
    gauge: Gauge,
    scan_pause: Duration,
}

/// Threads that read files at the same time, for all turns together.
const WORKERS: usize = 4;
/// How long a scan rests before each file: it is there to be watched.
const SCAN_PAUSE: Duration = Duration::from_millis(100);

impl Desk {
    /// An agent for a directory.
    ///
    /// # Errors
    /// When there is no such directory, or it cannot be opened.
    pub fn open(dir: impl AsRef<Path>) -> io::Result<Self> {
        let gauge = Gauge::new();
        Ok(Self {
            root: Root::open(dir.as_ref(), Limits::default())?,
            memory: Memory::default(),
            workers: Workers::new(WORKERS, gauge.clone()),
            gauge,
            scan_pause: SCAN_PAUSE,
        })
    }

    /// How long a scan rests before each file, where the prompt says nothing.
    #[must_use]
    pub const fn with_scan_pause(mut self, pause: Duration) -> Self {
        self.scan_pause = pause;
        self
    }

    /// Sessions live in a database from now on, so that any other desk over it goes on with them:
    /// the agent is portable then (MUST 6). Without this they live in the desk.
    #[must_use]
    pub fn with_sessions(mut self, sessions: SqliteSessions) -> Self {
        self.memory = Memory::File(sessions);
        self
    }

    /// The agent. All agents of one desk share their sessions.
    ///
    /// # Cancel safety
    /// Dropping the events drops the turn. A thread that reads for it stops within one
    /// chunk of a file; [`gauge`](Self::gauge) tells when that is.
    #[must_use]
    pub fn agent(&self) -> BoxAgent {
        BoxAgent::new(agent_fn_with(self.clone(), turn))
    }

    /// Counts the turns and the threads that are at work.
    #[must_use]
    pub fn gauge(&self) -> Gauge {
        self.gauge.clone()
    }

    /// Whether there are at least so many files that a scan sees. Blocks.
    pub(crate) fn has_files(&self, at_least: usize) -> bool {
        match self.root.place(None) {
            Ok(Place::Directory(walk)) => {
                walk.filter(|entry| !entry.is_dir).take(at_least).count() == at_least
            }
            Ok(Place::File(_)) | Err(_) => false,
        }
    }

    /// The names of the tools.
    #[must_use]
    pub const fn tools() -> &'static [&'static str] {
        &[
            "count", "search", "read", "list", "calc", "convert", "date", "scan",
        ]
    }
}

async fn turn(desk: Desk, scope: Scope, prompt: Prompt, out: Emitter) -> Result<Json, Failure> {
    let _mark = desk.gauge.enter();
    let key = memory::key(&scope);
    let mut recall = desk.memory.recall(&key).await?;
    let requests = grammar::parse(prompt.as_text(), recall.pending.as_deref())
        .map_err(|error| refusal(&error))?;
    recall.pending = None;
    let mut turn = Turn {
        desk,
        out,
        key,
        recall,
        results: Vec::new(),
        calls: 0,
    };
    for (at, request) in requests.into_iter().enumerate() {
        if at > 0 {
            turn.out.emit(AgentEvent::text("\n")).await;
        }
        if turn.answer(request).await? == Answered::WithAQuestion {
            break;
        }
    }
    let data = json!({ "results": turn.results });
    Json::encode(&data).map_err(Failure::internal)
}

/// One prompt being answered.
struct Turn {
    desk: Desk,
    out: Emitter,
    key: String,
    recall: Recall,
    results: Vec<Value>,
    calls: usize,
}

#[derive(PartialEq, Eq)]
enum Answered {
    Yes,
    /// Something is missing: what comes after in the prompt has to wait.
    WithAQuestion,
}

impl Turn {
    async fn answer(&mut self, request: Request) -> Result<Answered, Failure> {
        let request = match self.resolve(request).await? {
            Ok(request) => request,
            Err(question) => return self.ask(question, None).await,
        };
        let that = self
            .recall
            .number
            .as_ref()
            .map(|(number, _)| number.clone());
        let (name, args) = call(&request, that.as_ref());
        match request {
            Request::Help => {
                self.say(Piece::Prose(answer::HELP.to_owned())).await;
                self.results
                    .push(json!({ "tool": null, "tools": Desk::tools() }));
                return Ok(Answered::Yes);
            }
            Request::Missing { question, prefix } => return self.ask(question, Some(prefix)).await,
            Request::Scan(scan) => return self.scan(scan, &args).await,
            _ => {}
        }
        let id = self.start(name, &args).await?;
        let result = self.run(request).await?;
        if let Err(error) = &result
            && answer::nothing_before(error)
        {
            self.end(&id, true, json!({ "error": error.to_string() }))
                .await?;
            let question = "There is no earlier result in this session: which number do you mean?";
            return self.ask(question.to_owned(), None).await;
        }
        self.finish(name, &id, result).await
    }

    /// Looks up what "it" is, and whether a path is a file.
    async fn resolve(&self, request: Request) -> Result<Result<Request, String>, Failure> {
        let mut request = request;
        let subject = match &mut request {
            Request::Count(count) => Some(&mut count.subject),
            Request::Largest(largest) => Some(&mut largest.subject),
            Request::Search(search) => Some(&mut search.subject),
            Request::Read(read) => Some(&mut read.subject),
            Request::Scan(scan) => Some(&mut scan.subject),
            _ => None,
        };
        if let Some(subject) = subject
            && *subject == Subject::That
        {
            match &self.recall.path {
                Some(path) => *subject = Subject::Path(path.clone()),
                None => {
                    let question = "I have no file in mind: which one do you mean? Please ask the whole question.";
                    return Ok(Err(question.to_owned()));
                }
            }
        }
        if let Request::Convert {
            from: from @ None, ..
        } = &mut request
        {
            match &self.recall.number {
                Some((_, Some(unit))) => *from = Some(unit),
                Some((_, None)) => {
                    return Ok(Err(
                        "In which unit is that? Please say the number and its unit.".to_owned(),
                    ));
                }
                None => {
                    let question =
                        "There is no earlier result in this session: what shall I convert?";
                    return Ok(Err(question.to_owned()));
                }
            }
        }
        // "what is in X": a directory is listed, a file is read.
        if let Request::List {
            path: Some(path),
            filter: None,
        } = &request
        {
            let (root, name) = (self.desk.root.clone(), path.clone());
            let is_file = self
                .desk
                .workers
                .run(move |_| {
                    matches!(
                        root.place(Some(&name)),
                        Ok(Place::File(_)) | Err(FileError::Binary(_) | FileError::TooLarge(_))
                    )
                })
                .await
                .map_err(Failure::internal)?;
            if is_file {
                request = Request::Read(Read {
                    subject: Subject::Path(path.clone()),
                    span: Span::All,
                });
            }
        }
        Ok(Ok(request))
    }

    async fn run(&self, request: Request) -> Result<Result<Outcome, ToolError>, Failure> {
        let that = self
            .recall
            .number
            .as_ref()
            .map(|(number, _)| number.clone());
        let result = match request {
            Request::Sum { expr, base } => answer::sum(&expr, base, that.as_ref()),
            Request::Convert { value, from, to } => {
                let from = from.ok_or_else(|| Failure::internal("the unit was not looked up"))?;
                answer::convert(&value, from, to, that.as_ref())
            }
            Request::Date(question) => answer::date(&question),
            Request::Count(count) => {
                self.job(move |root, stop| tools::count(root, &count, stop))
                    .await?
            }
            Request::Largest(largest) => {
                self.job(move |root, stop| tools::largest(root, &largest, stop))
                    .await?
            }
            Request::Search(search) => {
                self.job(move |root, stop| tools::search(root, &search, stop))
                    .await?
            }
            Request::Read(read) => {
                self.job(move |root, stop| match &read.subject {
                    Subject::Path(path) => tools::read(root, path, read.span, stop),
                    Subject::Everything | Subject::That => Err(ToolError::NoFile),
                })
                .await?
            }
            Request::List { path, filter } => {
                self.job(move |root, stop| {
                    tools::list(root, path.as_deref(), filter.as_ref(), stop)
                })
                .await?
            }
            Request::Help | Request::Missing { .. } | Request::Scan(_) => {
                return Err(Failure::internal("not a call of one tool"));
            }
        };
        Ok(result)
    }

    async fn job<F>(&self, job: F) -> Result<Result<Outcome, ToolError>, Failure>
    where
        F: FnOnce(&Root, &Stop) -> Result<Outcome, ToolError> + Send + 'static,
    {
        let root = self.desk.root.clone();
        self.desk
            .workers
            .run(move |stop| job(&root, stop))
            .await
            .map_err(Failure::internal)
    }

    async fn scan(&mut self, scan: Scan, args: &Value) -> Result<Answered, Failure> {
        let pause = scan.pause.unwrap_or(self.desk.scan_pause);
        let id = self.start("scan", args).await?;
        let mut job = ScanJob::new(self.desk.root.clone(), scan);
        loop {
            tokio::time::sleep(pause).await;
            let (progress, rest) = self
                .desk
                .workers
                .run(move |stop| (job.step(stop), job))
                .await
                .map_err(Failure::internal)?;
            job = rest;
            match progress {
                Ok(Progress::File(line)) => self.say(Piece::Line(line)).await,
                Ok(Progress::Done(outcome)) => return self.finish("scan", &id, Ok(outcome)).await,
                Err(error) => return self.finish("scan", &id, Err(error)).await,
            }
        }
    }

    async fn start(&mut self, name: &str, args: &Value) -> Result<String, Failure> {
        self.calls += 1;
        let id = format!("t{}", self.calls);
        let args = Json::encode(args).map_err(Failure::internal)?;
        self.out
            .emit(AgentEvent::tool_started(id.as_str(), name, args))
            .await;
        Ok(id)
    }

    async fn end(&self, id: &str, is_error: bool, content: Value) -> Result<(), Failure> {
        let content = Json::encode(&content).map_err(Failure::internal)?;
        self.out
            .emit(AgentEvent::tool_ended(id, is_error, content))
            .await;
        Ok(())
    }

    async fn finish(
        &mut self,
        name: &str,
        id: &str,
        result: Result<Outcome, ToolError>,
    ) -> Result<Answered, Failure> {
        let outcome = match result {
            Ok(outcome) => outcome,
            Err(error) => {
                self.end(id, true, json!({ "error": error.to_string() }))
                    .await?;
                return Err(failure(error));
            }
        };
        self.end(id, false, outcome.data.clone()).await?;
        for piece in outcome.pieces {
            self.say(piece).await;
        }
        let mut result = json!({ "tool": name });
        if let (Value::Object(result), Value::Object(data)) = (&mut result, outcome.data) {
            result.extend(data);
        }
        self.results.push(result);
        if outcome.number.is_some() {
            self.recall.number = outcome.number;
        }
        if outcome.path.is_some() {
            self.recall.path = outcome.path;
        }
        self.remember().await?;
        Ok(Answered::Yes)
    }

    async fn ask(
        &mut self,
        question: String,
        pending: Option<String>,
    ) -> Result<Answered, Failure> {
        let event = Extension::encode("input_required", &json!({ "question": question }))
            .map_err(Failure::internal)?;
        // Not as text too: whoever shows the event would show the question twice.
        self.out.emit(event).await;
        self.recall.pending = pending;
        self.remember().await?;
        self.results
            .push(json!({ "tool": null, "question": question }));
        Ok(Answered::WithAQuestion)
    }

    async fn remember(&self) -> Result<(), Failure> {
        self.desk.memory.remember(&self.key, &self.recall).await
    }

    async fn say(&self, piece: Piece) {
        match piece {
            Piece::Prose(prose) => {
                for word in prose.split_inclusive(' ') {
                    self.out.emit(AgentEvent::text(word)).await;
                }
            }
            Piece::Line(line) => self.out.emit(AgentEvent::text(format!("{line}\n"))).await,
        }
    }
}

/// The tool of a request, and what it is called with.
fn call(request: &Request, that: Option<&BigRational>) -> (&'static str, Value) {
    let subject = |subject: &Subject| match subject {
        Subject::Path(path) => path.clone(),
        Subject::Everything | Subject::That => ".".to_owned(),
    };
    match request {
        Request::Help | Request::Missing { .. } => ("", Value::Null),
        Request::Count(count) => {
            let metrics = match &count.what {
                CountWhat::Metrics(metrics) => metrics.clone(),
                CountWhat::ByLanguage(metric) | CountWhat::ByExtension(metric) => vec![*metric],
            };
            let mut args = json!({
                "path": subject(&count.subject),
                "count": metrics.iter().map(|metric| metric.name()).collect::<Vec<_>>(),
            });
            match &count.what {
                CountWhat::Metrics(_) => {}
                CountWhat::ByLanguage(_) => args["by"] = "language".into(),
                CountWhat::ByExtension(_) => args["by"] = "extension".into(),
            }
            if let Some(filter) = &count.filter {
                args["filter"] = filter.name().into();
            }
            ("count", args)
        }
        Request::Largest(largest) => (
            "count",
            json!({ "path": subject(&largest.subject), "count": [largest.metric.name()], "by": "file" }),
        ),
        Request::Search(search) => {
            let args = json!({
                "pattern": search.pattern,
                "path": subject(&search.subject),
                "anyCase": search.any_case,
            });
            ("search", args)
        }
        Request::Read(read) => {
            let span = match read.span {
                Span::All => json!({}),
                Span::Lines(from, to) => json!({ "from": from, "to": to }),
                Span::First(count) => json!({ "first": count }),
                Span::Last(count) => json!({ "last": count }),
            };
            (
                "read",
                json!({ "path": subject(&read.subject), "lines": span }),
            )
        }
        Request::List { path, filter } => {
            let filter = filter.as_ref().map(super::language::Filter::name);
            (
                "list",
                json!({ "path": path.as_deref().unwrap_or("."), "filter": filter }),
            )
        }
        Request::Scan(scan) => {
            let mut args = json!({ "path": subject(&scan.subject) });
            if let Some(first) = scan.first {
                args["first"] = first.into();
            }
            ("scan", args)
        }
        Request::Sum { expr, base } => (
            "calc",
            json!({ "expression": expr.written(that), "base": base }),
        ),
        Request::Convert { value, from, to } => (
            "convert",
            json!({ "value": value.written(that), "from": from.map(|unit| unit.name), "to": to.name }),
        ),
        Request::Date(question) => ("date", json!({ "question": question.name() })),
    }
}

fn refusal(error: &NotUnderstood) -> Failure {
    Failure::with_code(
        FailureCode::INVALID_PROMPT,
        format!("{error}. {}.", answer::HINT),
    )
}

fn failure(error: ToolError) -> Failure {
    let details = error.to_string();
    match error {
        ToolError::File(FileError::Unreadable(..)) => {
            Failure::with_code(FailureCode::UNAVAILABLE, details).caused_by(error)
        }
        _ => Failure::with_code(FailureCode::INVALID_PROMPT, details),
    }
}
