//! A turn with visitors that come and go as they like.

use std::time::Duration;

use http_body_util::BodyExt;
use portcullis::{AgentEvent, Emitter, Failure, Prompt, Scope, agent_fn};
use portcullis_http::server::{Detach, ResponseBody, TurnService};
use proptest::{collection, prelude::*};
use tokio::time::Instant;

use crate::{
    detached::{of_owner, place},
    support::*,
};

/// What a visitor does next.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// It reads so many events, or waits for them so long.
    Read(usize, u64),
    /// It is cut, and away for so long.
    Away(u64),
    /// It comes back, or once more, and asks again for so many that it has seen.
    Visit(u64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (1..9_usize, 0..5_u64).prop_map(|(events, patience)| Step::Read(events, patience)),
        (0..9_u64).prop_map(Step::Away),
        prop_oneof![Just(0), 0..12_u64].prop_map(Step::Visit),
    ]
}

const ROOM: usize = 1500;

/// Says so many numbers, each after so many seconds and as long as that, over and over.
fn says(numbers: usize, pauses: Vec<u64>) -> TurnService {
    let agent = agent_fn(move |_: Scope, _: Prompt, out: Emitter| {
        let pauses = pauses.clone();
        async move {
            for (number, pause) in (1..=numbers).zip(pauses.iter().cycle()) {
                if *pause > 0 {
                    tokio::time::sleep(Duration::from_secs(*pause)).await;
                }
                let padding = " ".repeat(100 * usize::try_from(*pause).unwrap());
                out.emit(AgentEvent::text(format!("{number}{padding}")))
                    .await;
            }
            Ok::<_, Failure>(())
        }
    });
    // Away is never longer than the grace.
    TurnService::new(agent).detach(Detach::new(Duration::from_secs(10)).room(ROOM))
}

/// Its number, and the event.
fn read(frame: &[u8]) -> Option<(u64, AgentEvent)> {
    let text = str::from_utf8(frame).unwrap().strip_prefix("id: ")?;
    let (id, data) = text.split_once("\ndata: ").unwrap();
    Some((
        id.parse().unwrap(),
        AgentEvent::from_json(data.trim_end()).unwrap(),
    ))
}

async fn visit(numbers: usize, pauses: Vec<u64>, steps: Vec<Step>) {
    let service = says(numbers, pauses);
    let response = send(&service, of_owner(http::Method::POST, "detach", None, None)).await;
    let place = place(&response);
    let mut body = Some(response.into_body());
    // The number of the last event of this visit, and the greatest of any.
    let (mut at, mut seen) = (0, 0);
    // How long the events that were seen are.
    let mut lengths = Vec::new();
    let mut left = Instant::now();
    let end = numbers as u64 + 1;
    let to_the_end = [Step::Visit(0), Step::Read(usize::MAX, 1000)];
    for step in steps.into_iter().chain(to_the_end) {
        match step {
            Step::Read(events, patience) => {
                let Some(body) = &mut body else { continue };
                let patience = Duration::from_secs(patience);
                for _ in 0..events {
                    let Ok(event) = tokio::time::timeout(patience, next(body)).await else {
                        break;
                    };
                    let Some((number, event)) = event else { break };
                    assert_eq!(number, at + 1, "in order, without a gap");
                    assert_eq!(event.is_terminal(), number == end);
                    if let AgentEvent::Text(text) = &event {
                        assert_eq!(text.delta().trim_end(), number.to_string());
                    }
                    at = number;
                    if at > seen {
                        lengths.push(event.to_json().len());
                        seen = at;
                    }
                }
            }
            Step::Away(seconds) => {
                if body.take().is_some() {
                    left = Instant::now();
                }
                // Whoever stays away for longer than the grace has given up.
                let longest = left + Duration::from_secs(9);
                let back = Instant::now() + Duration::from_secs(seconds);
                tokio::time::sleep_until(back.min(longest)).await;
            }
            Step::Visit(back) => {
                let after = seen.saturating_sub(back);
                let last = after.to_string();
                let request = of_owner(http::Method::GET, &place, None, Some(&last));
                let response = send(&service, request).await;
                match response.status().as_u16() {
                    200 => {
                        body = Some(response.into_body());
                        at = after;
                    }
                    204 => {
                        assert_eq!(after, end);
                        body = None;
                        left = Instant::now();
                    }
                    410 => {
                        let asked = usize::try_from(after).unwrap();
                        let lost: usize = lengths[asked..].iter().map(|length| length + 64).sum();
                        // One more may have been on its way.
                        assert!(lost + 500 >= ROOM, "the last ones are there: {lost} bytes");
                    }
                    status => panic!("{status} after {after}"),
                }
            }
        }
    }
    assert_eq!(seen, end, "all of it was read");
}

async fn next(body: &mut ResponseBody) -> Option<(u64, AgentEvent)> {
    loop {
        let frame = body.frame().await?.unwrap().into_data().unwrap();
        if let Some(event) = read(&frame) {
            return Some(event);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_lost_however_visitors_come_and_go(
        numbers in 0..40_usize,
        pauses in collection::vec(prop_oneof![Just(0), 0..4_u64], 1..6),
        steps in collection::vec(step(), 0..30),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(visit(numbers, pauses, steps));
    }
}
