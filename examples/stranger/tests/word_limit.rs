//! The layer on its own, with the kit, and in a stack.

use portcullis::{
    AgentEvent, AgentExt, CollectError, Failure, Prompt, Scope, agent_fn, collect,
    conformance::{LayerOptions, pair, suite},
};
use portcullis_layers::{ServiceBuilderExt, trace::TraceLayer};
use stranger::WordLimit;
use tower::ServiceBuilder;

async fn answer(limit: usize) -> Result<String, CollectError> {
    let engine = agent_fn(async |_scope, prompt: Prompt, out| {
        for piece in prompt.as_text().split_inclusive('|') {
            out.emit(AgentEvent::text(piece.trim_end_matches('|')))
                .await;
        }
        Ok(())
    });
    let agent = ServiceBuilder::new()
        .catch()
        .trace()
        .concurrency(8)
        .layer(WordLimit(limit))
        .service(engine);
    let prompt = Prompt::text("one tw|o three |four");
    collect(agent.invoke(Scope::new("s"), prompt))
        .await
        .map(|answer| answer.text)
}

#[tokio::test]
async fn counts_words_over_pieces() {
    assert_eq!(answer(4).await.expect("four words"), "one two three four");
    let cut = Err(CollectError::Failed(Failure::new("more than 3 words")));
    assert_eq!(answer(3).await, cut);
}

#[tokio::test(start_paused = true)]
async fn conforms() {
    let options = LayerOptions::new().ends_turns();
    // The kit's long answer has fifty words: it acts.
    suite::layer(|| WordLimit(20), options).await.assert();
    suite::layer(|| pair(TraceLayer::new(), WordLimit(20)), options)
        .await
        .assert();
    suite::layer(|| pair(WordLimit(20), TraceLayer::new()), options)
        .await
        .assert();
}
