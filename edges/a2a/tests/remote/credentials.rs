//! An agent that needs a credential, behind an agent that has none either.

use futures_util::StreamExt;
use portcullis::views::AuthRequired;
use portcullis::{AgentEvent, BoxAgent, Emitter, Failure, Prompt, Scope, agent_fn};
use portcullis_a2a::{
    client::Binding,
    model::{Message, Part, SendMessageRequest, StreamResponse, TaskState},
};

use crate::{client, gate};

// A2A-OP-113: the need goes up to whoever can meet it, and the work goes on when it is met.
#[tokio::test(start_paused = true)]
async fn the_need_for_a_credential_goes_up() {
    for binding in Binding::ALL {
        let agent = agent_fn(async |_: Scope, _: Prompt, out: Emitter| {
            out.emit(AuthRequired::new("Sign in at https://id.example.com/"))
                .await;
            tokio::time::sleep(std::time::Duration::from_secs(60)).await;
            out.emit(AgentEvent::text("thanks")).await;
            Ok::<_, Failure>(())
        });
        let client = client(*binding, gate(*binding, BoxAgent::new(agent)));
        let request = SendMessageRequest::new(Message::user("m", [Part::text("x")]));
        let events = client.send_streaming_message(&request).await.unwrap();
        let mut states = Vec::new();
        let mut says = String::new();
        for event in events.collect::<Vec<_>>().await {
            if let StreamResponse::StatusUpdate(update) = event.unwrap().response {
                if update.status.state == TaskState::AuthRequired {
                    says = update.status.message.expect("what it needs").text();
                }
                states.push(update.status.state);
            }
        }
        assert!(
            says.contains("https://id.example.com/"),
            "{binding}: {says}"
        );
        states.dedup();
        states.retain(|state| *state != TaskState::Working);
        assert_eq!(
            states,
            [TaskState::AuthRequired, TaskState::Completed],
            "{binding}"
        );
    }
}
