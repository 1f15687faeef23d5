use futures_util::StreamExt;

use crate::{
    Agent, AgentEvent, AgentExt, Prompt, Scope,
    conformance::{Breach, Check, Report},
};

/// Proves an agent portable (MUST 6): a conversation comes out the same when each of its
/// turns is served by another instance over the same store.
///
/// The agent has to answer the same when it is asked the same: give it a model that is
/// scripted. Choose prompts that need what was said before.
///
/// ```
/// use std::sync::{Arc, Mutex};
/// use portcullis::{AgentEvent, Emitter, Failure, Prompt, Scope, agent_fn_with, conformance::suite};
///
/// type Store = Arc<Mutex<Vec<String>>>;
///
/// async fn count(store: Store, _: Scope, prompt: Prompt, out: Emitter) -> Result<(), Failure> {
///     let count = {
///         let mut said = store.lock().expect("not poisoned");
///         said.push(prompt.as_text().to_owned());
///         said.len()
///     };
///     out.emit(AgentEvent::text(format!("That was {count}."))).await;
///     Ok(())
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// suite::portable(Store::default, |store| agent_fn_with(store.clone(), count), ["one", "two"])
///     .await
///     .assert();
/// # }
/// ```
pub async fn portable<T, A, P>(
    make_store: impl Fn() -> T,
    make_agent: impl Fn(&T) -> A,
    prompts: P,
) -> Report
where
    A: Agent + Clone,
    P: IntoIterator,
    P::Item: Into<Prompt>,
{
    let prompts: Vec<Prompt> = prompts.into_iter().map(Into::into).collect();
    let mut report = Report::default();

    let resident = make_store();
    let resident = make_agent(&resident);
    let mut expected = Vec::new();
    for prompt in &prompts {
        report.turn();
        expected.push(answer(&resident, prompt).await);
    }

    let store = make_store();
    for (prompt, expected) in prompts.iter().zip(expected) {
        report.turn();
        let got = answer(&make_agent(&store), prompt).await;
        if got != expected {
            report.breach(Breach::new(
                Check::Portable,
                prompt.as_text(),
                "served by another instance",
                None,
                format!("{got:?} instead of {expected:?}"),
            ));
        }
    }
    report
}

/// What was said; how it was cut into pieces does not matter.
async fn answer<A: Agent + Clone>(agent: &A, prompt: &Prompt) -> (String, Option<AgentEvent>) {
    let mut events = Box::pin(agent.invoke(Scope::new("session"), prompt.clone()));
    let mut text = String::new();
    let mut last = None;
    while let Some(event) = events.next().await {
        if let AgentEvent::Text(piece) = &event {
            text.push_str(piece.delta());
        }
        last = Some(event).filter(AgentEvent::is_terminal);
    }
    (text, last)
}
