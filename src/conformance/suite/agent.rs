use std::{
    any::Any,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use crate::{
    Agent, Prompt, Scope, UsageSink,
    conformance::{
        Breach, Check, Place, Report,
        clock::demand_paused,
        drive::{Driven, Polled},
        subject::Subject,
    },
};

/// Proves an agent right: MUST 1, 2 and 3, for each of some prompts.
///
/// Each turn is read to its end, and dropped after each of its polls. Choose prompts that
/// take every path: one that fails, one that uses a tool, one that takes long.
///
/// That the work stops is seen from outside: nobody holds the scope any more, tokio has
/// no task more than before, and nothing is reported to the sink after a while. The
/// tasks that an agent spawned may take until the runtime has run once.
///
/// ```
/// use portcullis::{AgentEvent, Failure, Prompt, agent_fn, conformance::suite};
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() {
/// let make_agent = || {
///     agent_fn(async |_scope, prompt: Prompt, out| {
///         if prompt.as_text().is_empty() {
///             return Err(Failure::new("say something"));
///         }
///         out.emit(AgentEvent::text(prompt.as_text())).await;
///         Ok(())
///     })
/// };
/// suite::agent(make_agent, ["", "hello"]).await.assert();
/// # }
/// ```
///
/// # Panics
///
/// If tokio's clock is not paused.
pub async fn agent<A, P>(make_agent: impl Fn() -> A, prompts: P) -> Report
where
    A: Agent + Clone + 'static,
    P: IntoIterator,
    P::Item: Into<Prompt>,
{
    demand_paused().await;
    let mut report = Report::default();
    for prompt in prompts {
        let prompt = prompt.into();
        let subject = Subject::new(make_agent());
        let found = match read(&subject, &prompt).await {
            Ok(()) => drop_everywhere(&subject, &prompt, &mut report).await,
            found => found,
        };
        report.turn();
        if let Err((check, place, details)) = found {
            report.breach(Breach::new(
                check,
                prompt.as_text(),
                place.to_string(),
                place.event(),
                details,
            ));
        }
    }
    report
}

type Found = Result<(), (Check, Place, String)>;

async fn read(subject: &Subject, prompt: &Prompt) -> Found {
    let mut turn = Driven::new(subject.start(Scope::new("session"), prompt.clone()));
    let place = turn.run_to_end().await;
    let breach = |check, details: &str| Err((check, place, details.to_owned()));
    match place {
        Place::Panicked => breach(Check::NoPanic, turn.panic.as_deref().unwrap_or_default()),
        Place::End => breach(Check::EndsWithTerminal, "the stream just ended"),
        Place::Stuck => breach(Check::Wakes, "the turn is pending, and nobody will wake it"),
        _ => match turn.after_the_end().await {
            Polled::End => match turn.drop_turn() {
                None => Ok(()),
                Some(panic) => breach(Check::NoPanic, &panic),
            },
            Polled::Panicked(panic) => breach(Check::NoPanic, &panic),
            other => breach(Check::NothingAfterTerminal, &format!("{other:?}")),
        },
    }
}

/// Whatever holds the scope holds this.
struct Witness(
    #[expect(dead_code, reason = "its count is what matters")] Arc<dyn Any + Send + Sync>,
);

async fn drop_everywhere(subject: &Subject, prompt: &Prompt, report: &mut Report) -> Found {
    for polls in 0.. {
        settle().await;
        let tasks = alive_tasks();
        let witness = Arc::new(());
        let reports = Arc::new(AtomicUsize::new(0));
        let mut scope = Scope::new("session");
        scope.extensions_mut().insert(Witness(witness.clone()));
        scope.add_usage_sink(UsageSink::new({
            let reports = Arc::clone(&reports);
            move |_| {
                reports.fetch_add(1, Ordering::Relaxed);
            }
        }));
        let mut turn = Driven::new(subject.start(scope, prompt.clone()));
        report.turn();
        for _ in 0..polls {
            turn.step().await;
        }
        let place = turn.place;
        if let Some(panic) = turn.drop_turn() {
            return Err((Check::NoPanic, place, format!("drop: {panic}")));
        }
        // Tasks that were aborted are dropped when the runtime comes to them.
        settle().await;
        let breach = |details: &str| Err((Check::DropStops, place, details.to_owned()));
        if alive_tasks() > tasks {
            return breach("a task of the turn goes on");
        }
        if Arc::strong_count(&witness) > 1 {
            return breach("somebody still holds the scope");
        }
        let before = reports.load(Ordering::Relaxed);
        tokio::time::sleep(std::time::Duration::from_secs(3600)).await;
        if reports.load(Ordering::Relaxed) > before {
            return breach("usage was reported later");
        }
        if place.is_over() {
            break;
        }
    }
    Ok(())
}

/// Lets the runtime run what it has to.
async fn settle() {
    for _ in 0..8 {
        tokio::task::yield_now().await;
    }
}

fn alive_tasks() -> usize {
    tokio::runtime::Handle::current()
        .metrics()
        .num_alive_tasks()
}
