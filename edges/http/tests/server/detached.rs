use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use futures_util::FutureExt;
use http::{Method, Request, Response};
use http_body_util::{BodyExt, Full};
use portcullis::{
    AgentEvent, BoxAgent, Emitter, Failure, FailureCode, Principal, Prompt, Scope, agent_fn,
};
use portcullis_http::server::{Detach, ResponseBody, TurnService};
use tokio::{sync::watch, time::Instant};
use tower::ServiceExt;

use crate::support::*;

const GRACE: Duration = Duration::from_secs(60);

/// An agent that says a number each second, and how far its turns are.
struct Counter {
    agent: BoxAgent,
    said: Arc<AtomicUsize>,
    alive: watch::Receiver<usize>,
}

impl Counter {
    fn to(end: usize) -> Self {
        let said = Arc::new(AtomicUsize::new(0));
        let alive = watch::Sender::new(0);
        let (counts, watches) = (Arc::clone(&said), alive.subscribe());
        let agent = agent_fn(move |_: Scope, _: Prompt, out: Emitter| {
            let counts = Arc::clone(&counts);
            let counted = Counted::new(alive.clone());
            async move {
                let _counted = counted;
                for number in 1..=end {
                    counts.fetch_add(1, Ordering::Relaxed);
                    out.emit(AgentEvent::text(number.to_string())).await;
                    tokio::time::sleep(Duration::from_secs(1)).await;
                }
                Ok::<_, Failure>(())
            }
        });
        Self {
            agent: BoxAgent::new(agent),
            said,
            alive: watches,
        }
    }

    fn service(&self, policy: Detach) -> TurnService {
        TurnService::new(self.agent.clone()).detach(policy)
    }

    fn said(&self) -> usize {
        self.said.load(Ordering::Relaxed)
    }

    fn alive(&self) -> usize {
        *self.alive.borrow()
    }
}

fn detaching(query: &str, who: Option<&str>) -> Request<Full<Bytes>> {
    of_owner(Method::POST, query, who, None)
}

pub(crate) fn of_owner(
    method: Method,
    query: &str,
    who: Option<&str>,
    after: Option<&str>,
) -> Request<Full<Bytes>> {
    let body = if method == Method::POST {
        asking("p")
    } else {
        String::new()
    };
    let mut request = post(SSE, body);
    *request.method_mut() = method;
    *request.uri_mut() = format!("/v1/turns?{query}").parse().unwrap();
    if let Some(after) = after {
        let headers = request.headers_mut();
        headers.insert("last-event-id", after.parse().unwrap());
    }
    if let Some(who) = who {
        let principal = Principal::new("user", "i", who);
        request.extensions_mut().insert(principal);
    }
    request
}

/// The turn's own query, as the head says it.
pub(crate) fn place(response: &Response<ResponseBody>) -> String {
    assert_eq!(response.status(), 200);
    let place = response.headers()["content-location"].to_str().unwrap();
    place.strip_prefix('?').expect("a query").to_owned()
}

/// Reads until so many events have come. Answers them, each as id and text.
async fn read(body: &mut ResponseBody, count: usize) -> Vec<String> {
    let mut events = Vec::new();
    while events.len() < count {
        let frame = body.frame().await.expect("a frame").unwrap();
        let text = String::from_utf8(frame.into_data().unwrap().into()).unwrap();
        if let Some(event) = text.strip_prefix("id: ") {
            let (id, data) = event.split_once("\ndata: ").unwrap();
            let event = AgentEvent::from_json(data.trim_end()).unwrap();
            let delta = match &event {
                AgentEvent::Text(text) => text.delta(),
                other => other.type_name(),
            };
            events.push(format!("{id} {delta}"));
        }
    }
    events
}

async fn seconds(seconds: u64) {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
}

#[tokio::test(start_paused = true)]
async fn who_comes_back_reads_on() {
    let counter = Counter::to(5);
    let service = counter.service(Detach::new(GRACE));
    let response = send(&service, detaching("detach", None)).await;
    let place = place(&response);
    let mut body = response.into_body();
    assert_eq!(read(&mut body, 2).await, ["1 1", "2 2"]);
    drop(body);
    seconds(30).await;
    assert_eq!(counter.said(), 5, "it went on");
    assert_eq!(counter.alive(), 0, "and is over");

    // The last event that was sent may not have arrived.
    for (after, expected) in [
        ("1", &["2 2", "3 3", "4 4", "5 5", "6 completed"][..]),
        ("5", &["6 completed"]),
        ("0", &["1 1", "2 2", "3 3", "4 4", "5 5", "6 completed"]),
    ] {
        let resume = of_owner(Method::GET, &place, None, Some(after));
        let mut body = send(&service, resume).await.into_body();
        assert_eq!(read(&mut body, expected.len()).await, expected);
        assert!(body.frame().await.is_none());
    }
    let from_the_start = of_owner(Method::GET, &place, None, None);
    let mut body = send(&service, from_the_start).await.into_body();
    assert_eq!(read(&mut body, 6).await[0], "1 1");
    drop(body);

    // A browser's EventSource comes until it is told not to.
    let over = exchange(&service, of_owner(Method::GET, &place, None, Some("6"))).await;
    assert_eq!((over.status.as_u16(), over.body.as_str()), (204, ""));
    let ahead = exchange(&service, of_owner(Method::GET, &place, None, Some("7"))).await;
    assert_eq!(ahead.status, 400);
    for nonsense in ["x", "-1", "18446744073709551616"] {
        let request = of_owner(Method::GET, &place, None, Some(nonsense));
        assert_eq!(exchange(&service, request).await.status, 400, "{nonsense}");
    }
    let most = of_owner(Method::GET, &place, None, Some("18446744073709551615"));
    assert_eq!(exchange(&service, most).await.status, 400);

    // Every visit begins the grace anew.
    seconds(59).await;
    let again = of_owner(Method::GET, &place, None, Some("6"));
    assert_eq!(exchange(&service, again).await.status, 204);
    seconds(61).await;
    let late = of_owner(Method::GET, &place, None, Some("6"));
    assert_eq!(exchange(&service, late).await.status, 404);
}

/// While the turn runs, and in the other format.
#[tokio::test(start_paused = true)]
async fn a_turn_that_runs_is_read_on() {
    let counter = Counter::to(9);
    let service = counter.service(Detach::new(GRACE));
    let response = send(&service, detaching("detach", None)).await;
    let place = place(&response);
    let mut body = response.into_body();
    assert_eq!(read(&mut body, 1).await, ["1 1"]);
    drop(body);
    seconds(3).await;
    let mut resume = of_owner(Method::GET, &place, None, Some("1"));
    let lines = LINES.parse().unwrap();
    resume.headers_mut().insert("accept", lines);
    let read = exchange(&service, resume).await;
    assert_eq!(read.header("content-type"), LINES);
    let deltas: Vec<_> = read.lines();
    assert_eq!(deltas.len(), 9, "{deltas:?}");
    assert!(deltas[0].contains("\"2\"") && deltas[8].contains("completed"));
}

#[tokio::test(start_paused = true)]
async fn nobody_who_comes_back_ends_the_turn() {
    for (query, grace) in [
        ("detach", 60),
        ("detach=20", 20),
        ("detach=3600", 60),
        ("detach=x", 60),
    ] {
        let counter = Counter::to(1000);
        let service = counter.service(Detach::new(GRACE));
        let response = send(&service, detaching(query, None)).await;
        let place = place(&response);
        let mut body = response.into_body();
        read(&mut body, 1).await;
        let left = Instant::now();
        drop(body);
        let mut alive = counter.alive.clone();
        alive.wait_for(|alive| *alive == 0).await.unwrap();
        assert_eq!(left.elapsed().as_secs(), grace, "{query}");
        let resume = of_owner(Method::GET, &place, None, None);
        assert_eq!(exchange(&service, resume).await.status, 404, "{query}");
    }
}

/// Who does not ask for it, and who is not allowed it, is as before.
#[tokio::test(start_paused = true)]
async fn nothing_is_detached_that_did_not_ask() {
    let counter = Counter::to(9);
    let without = TurnService::new(counter.agent.clone());
    let with = counter.service(Detach::new(GRACE));
    for (service, query) in [(&without, "detach"), (&with, "x=1")] {
        let response = send(service, detaching(query, None)).await;
        assert!(!response.headers().contains_key("content-location"));
        let mut body = response.into_body();
        read(&mut body, 1).await;
        assert_eq!(counter.alive(), 1);
        drop(body);
        assert_eq!(counter.alive(), 0, "at once");
    }
    let get = of_owner(Method::GET, "turn=x", None, None);
    let refused = exchange(&without, get).await;
    assert_eq!(
        (refused.status.as_u16(), refused.header("allow")),
        (405, "POST")
    );
    let put = of_owner(Method::PUT, "", None, None);
    let refused = exchange(&with, put).await;
    assert_eq!(refused.header("allow"), "POST, GET, DELETE");
}

/// Before its caller can know the name of the turn there is nothing to come back to.
#[tokio::test(start_paused = true)]
async fn a_turn_that_nobody_can_name_is_cancelled() {
    let (agent, mut alive) = hangs_after([]);
    let service = TurnService::new(agent).detach(Detach::new(GRACE));
    let mut call = service.clone().oneshot(detaching("detach", None));
    assert!((&mut call).now_or_never().is_none());
    alive.wait_for(|alive| *alive == 1).await.unwrap();
    let began = Instant::now();
    drop(call);
    alive.wait_for(|alive| *alive == 0).await.unwrap();
    assert_eq!(began.elapsed(), Duration::ZERO);

    let failure = Failure::with_code(FailureCode::OVERLOADED, "full");
    let refuses = fails(failure).detach(Detach::new(GRACE));
    let refused = exchange(&refuses, detaching("detach", None)).await;
    assert_eq!(refused.status, 503);
    assert!(!refused.headers.contains_key("content-location"));
}

/// O-A01: another owner cannot read it, end it, or learn that it is there.
#[tokio::test(start_paused = true)]
async fn a_turn_is_its_owners() {
    let counter = Counter::to(1000);
    let service = counter.service(Detach::new(GRACE));
    let owners = [None, Some("ann"), Some("bob")];
    for owner in owners {
        let response = send(&service, detaching("detach", owner)).await;
        let place = place(&response);
        let mut body = response.into_body();
        read(&mut body, 1).await;
        for other in owners {
            if other == owner {
                continue;
            }
            for method in [Method::GET, Method::DELETE] {
                let theirs = of_owner(method.clone(), &place, other, Some("0"));
                let theirs = exchange(&service, theirs).await;
                let nobodys = of_owner(method, "turn=nonsense", other, Some("0"));
                let nobodys = exchange(&service, nobodys).await;
                assert_eq!(theirs.status, 404);
                assert_eq!(theirs.body, nobodys.body);
            }
        }
        // The reader was not disturbed.
        assert_eq!(read(&mut body, 1).await, ["2 2"]);
        let mine = of_owner(Method::DELETE, &place, owner, None);
        assert_eq!(exchange(&service, mine).await.status, 204);
        assert!(body.frame().await.is_none(), "cut");
        let mut alive = counter.alive.clone();
        alive.wait_for(|alive| *alive == 0).await.unwrap();
        let gone = of_owner(Method::GET, &place, owner, None);
        assert_eq!(exchange(&service, gone).await.status, 404);
    }
}

/// The connection of a telephone may be long dead before the server notices.
#[tokio::test(start_paused = true)]
async fn who_comes_back_takes_the_place() {
    let counter = Counter::to(5);
    let service = counter.service(Detach::new(GRACE));
    let response = send(&service, detaching("detach", None)).await;
    let place = place(&response);
    let mut first = response.into_body();
    assert_eq!(read(&mut first, 1).await, ["1 1"]);
    let resume = of_owner(Method::GET, &place, None, Some("0"));
    let mut second = send(&service, resume).await.into_body();
    assert_eq!(read(&mut second, 2).await, ["1 1", "2 2"]);
    assert!(
        first.frame().await.is_none(),
        "cut, without a terminal event"
    );
    // That it is dropped only now means nothing.
    drop(first);
    seconds(61).await;
    assert_eq!(
        read(&mut second, 4).await,
        ["3 3", "4 4", "5 5", "6 completed"]
    );
}

/// The clock of the grace runs only while nobody reads.
#[tokio::test(start_paused = true)]
async fn who_came_back_may_stay() {
    let counter = Counter::to(200);
    let service = counter.service(Detach::new(Duration::from_secs(10)));
    let response = send(&service, detaching("detach", None)).await;
    let place = place(&response);
    let mut body = response.into_body();
    for _ in 0..3 {
        read(&mut body, 1).await;
        drop(body);
        seconds(9).await;
        let resume = of_owner(Method::GET, &place, None, Some("1"));
        body = send(&service, resume).await.into_body();
        let before = counter.said();
        seconds(30).await;
        assert_eq!(
            counter.said(),
            before,
            "nothing runs ahead of who came back"
        );
        assert_eq!(read(&mut body, before).await.len(), before);
        seconds(30).await;
    }
    assert_eq!(counter.alive(), 1);
}

/// While somebody reads, nothing runs ahead; while nobody does, the room bounds it; and nothing is lost.
#[tokio::test(start_paused = true)]
async fn what_nobody_has_read_is_bounded_and_kept() {
    let counter = Counter::to(100);
    let service = counter.service(Detach::new(Duration::from_secs(600)).room(2048));
    let response = send(&service, detaching("detach", None)).await;
    let place = place(&response);
    let mut body = response.into_body();
    read(&mut body, 3).await;
    seconds(50).await;
    assert!(counter.said() <= 4, "{} with a slow reader", counter.said());
    drop(body);
    seconds(300).await;
    let said = counter.said();
    assert!((10..60).contains(&said), "{said} without one");
    let resume = of_owner(Method::GET, &place, None, Some("3"));
    let mut body = send(&service, resume).await.into_body();
    let rest = read(&mut body, 98).await;
    assert_eq!(rest[0], "4 4");
    assert_eq!(rest[97], "101 completed");
    drop(body);
    // What was read long ago is gone, and says so.
    let early = exchange(&service, of_owner(Method::GET, &place, None, Some("3"))).await;
    assert_eq!(early.status, 410);
    assert_eq!(early.json()["event"]["code"], "unavailable");
    let late = of_owner(Method::GET, &place, None, Some("100"));
    assert_eq!(exchange(&service, late).await.status, 200);
}

#[tokio::test(start_paused = true)]
async fn turns_without_a_reader_are_bounded() {
    let counter = Counter::to(1000);
    let policy = Detach::new(GRACE).turns(3).turns_per_owner(2);
    let service = counter.service(policy);
    let leave = async |who: &'static str| {
        let response = send(&service, detaching("detach", Some(who))).await;
        let place = place(&response);
        let mut body = response.into_body();
        read(&mut body, 1).await;
        drop(body);
        seconds(1).await;
        (place, who)
    };
    let is_there = async |(place, who): &(String, &'static str)| {
        // To look is to visit: the one looked at is left last then.
        let request = of_owner(Method::GET, place, Some(who), Some("0"));
        let response = send(&service, request).await;
        response.status() == 200
    };
    let ann = [leave("ann").await, leave("ann").await, leave("ann").await];
    assert_eq!(counter.alive(), 2, "one owner's");
    assert!(!is_there(&ann[0]).await, "the one that was left first");
    let bob = leave("bob").await;
    assert_eq!(counter.alive(), 3);
    let cay = leave("cay").await;
    assert_eq!(counter.alive(), 3, "all owners'");
    assert!(!is_there(&ann[1]).await);
    for there in [&ann[2], &bob, &cay] {
        assert!(is_there(there).await, "{there:?}");
    }
    // Those that are read do not count.
    let mut read_by = Vec::new();
    for _ in 0..5 {
        let mut body = send(&service, detaching("detach", Some("ann")))
            .await
            .into_body();
        read(&mut body, 1).await;
        read_by.push(body);
    }
    assert_eq!(counter.alive(), 8);
}

/// Nothing outlives its owner.
#[tokio::test(start_paused = true)]
async fn turns_end_with_the_service() {
    let counter = Counter::to(1000);
    let service = counter.service(Detach::new(GRACE));
    let mut body = send(&service, detaching("detach", None)).await.into_body();
    read(&mut body, 1).await;
    drop(service);
    assert_eq!(
        read(&mut body, 1).await,
        ["2 2"],
        "for as long as somebody reads"
    );
    let began = Instant::now();
    drop(body);
    let mut alive = counter.alive.clone();
    alive.wait_for(|alive| *alive == 0).await.unwrap();
    assert_eq!(began.elapsed(), Duration::ZERO);
}

/// As without it.
#[tokio::test(start_paused = true)]
async fn a_detached_turn_ends_as_any_other() {
    let panics = agent_fn(|_: Scope, _: Prompt, out: Emitter| async move {
        out.emit(AgentEvent::text("a")).await;
        panic!("hunter2");
        #[expect(unreachable_code, reason = "says what the block answers")]
        Ok::<(), Failure>(())
    });
    let service = TurnService::new(panics).detach(Detach::new(GRACE));
    let read = exchange(&service, detaching("detach", None)).await;
    assert_eq!(read.status, 200);
    assert!(read.body.contains("\"code\":\"internal\""), "{read:?}");
    assert!(!read.body.contains("hunter2"));

    let (agent, alive) = hangs();
    let service = TurnService::new(agent)
        .detach(Detach::new(GRACE))
        .turn_limit(Duration::from_secs(5));
    let read = exchange(&service, detaching("detach", None)).await;
    assert!(read.body.contains("\"code\":\"timeout\""), "{read:?}");
    assert_eq!(*alive.borrow(), 0);
}
