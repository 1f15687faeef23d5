//! This server as one of the peers that are measured against each other: the executor path over
//! the log in memory, JSON-RPC, HTTP/1.1.
//!
//! The agent of every peer: open a task, go working, `CHUNKS` chunks of 32 bytes for one
//! artifact, complete. It waits `DELAY_MS` before each chunk, or yields to the scheduler with
//! `YIELD=1`. It listens on `PORT` and runs on `WORKERS` threads. `COALESCE=MS` takes the
//! agent path instead, with text coalesced over so many milliseconds; 0 is each by itself.

use std::{env, error::Error, time::Duration};

use portcullis::{AgentEvent, Emitter, agent_fn};
use portcullis_a2a::{
    binding::JsonRpc,
    model::{AgentCard, AgentInterface, Artifact, TaskState},
    server::{Coalescing, Emission, Limits, RequestContext, Server, executor_fn},
};

const CHUNK: &str = "0123456789abcdef0123456789abcdef";

/// What the environment asks for.
#[derive(Clone, Copy)]
struct Work {
    chunks: u64,
    delay: Duration,
    yields: bool,
}

impl Work {
    /// Before each chunk.
    async fn pace(self) {
        if !self.delay.is_zero() {
            tokio::time::sleep(self.delay).await;
        } else if self.yields {
            tokio::task::yield_now().await;
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let workers = usize::try_from(variable("WORKERS", 1)?)?;
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(workers)
        .enable_all()
        .build()?
        .block_on(serve())
}

async fn serve() -> Result<(), Box<dyn Error>> {
    let work = Work {
        chunks: variable("CHUNKS", 1)?,
        delay: Duration::from_millis(variable("DELAY_MS", 0)?),
        yields: variable("YIELD", 0)? == 1,
    };
    let address = format!("127.0.0.1:{}", variable("PORT", 9000)?);
    let listener = portcullis_net::bind(&address).await?;
    let interface = AgentInterface::json_rpc(format!("http://{address}/"));
    let card = AgentCard::new("Bench", "Answers with chunks.", interface);
    let server = match env::var("COALESCE") {
        Ok(millis) => by_agent(work, Duration::from_millis(millis.parse()?), card),
        Err(_) => by_executor(work, card),
    };
    // In a task of the workers, as with the other peers: the thread of `main` is none of them.
    let mut tasks = tokio::task::JoinSet::new();
    tasks.spawn(async move {
        portcullis_net::Server::new()
            .serve(listener, JsonRpc::new(server), std::future::pending())
            .await;
    });
    while let Some(ended) = tasks.join_next().await {
        ended?;
    }
    Ok(())
}

fn by_executor(work: Work, card: AgentCard) -> Server {
    let agent = executor_fn(
        move |ctx: RequestContext, out: Emitter<Emission>| async move {
            out.emit(ctx.status(TaskState::Working)).await;
            for number in 0..work.chunks {
                work.pace().await;
                let mut chunk = ctx.artifact(Artifact::text("a-1", CHUNK));
                chunk.append = number > 0;
                chunk.last_chunk = number + 1 == work.chunks;
                out.emit(chunk).await;
            }
            out.emit(ctx.status(TaskState::Completed)).await;
        },
    );
    Server::builder(agent, card).limits(limits()).build()
}

fn by_agent(work: Work, interval: Duration, card: AgentCard) -> Server {
    let agent = agent_fn(move |_scope, _prompt, out: Emitter| async move {
        for _ in 0..work.chunks {
            work.pace().await;
            out.emit(AgentEvent::text(CHUNK)).await;
        }
        Ok(())
    });
    let coalescing = if interval.is_zero() {
        Coalescing::NONE
    } else {
        Coalescing {
            interval,
            ..Coalescing::default()
        }
    };
    Server::agent_builder(agent, card)
        .coalescing(coalescing)
        .limits(limits())
        .build()
}

/// The driver is one owner, who may have all that there is.
fn limits() -> Limits {
    let mut limits = Limits::default();
    limits.owner_streams = limits.open_streams;
    limits.owner_tasks = limits.running_turns;
    limits.context_tasks = limits.running_turns;
    limits
}

fn variable(name: &str, default: u64) -> Result<u64, Box<dyn Error>> {
    match env::var(name) {
        Ok(text) => text
            .parse()
            .map_err(|error| format!("{name}={text}: {error}").into()),
        Err(_) => Ok(default),
    }
}
