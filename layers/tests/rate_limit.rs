//! How many requests there are in a while.

mod support;

use std::{
    collections::HashMap,
    future::{Pending, Ready, pending, ready},
    net::IpAddr,
    time::Duration,
};

use futures_util::{FutureExt, StreamExt};
use portcullis::{AgentEvent, AgentExt, FailureCode, Principal, Prompt, Scope};
use portcullis_layers::rate_limit::{
    Decision, Everybody, Key, LimitKey, Limiter, LimiterError, MemoryLimiter, Peer, Rate,
    RateLimitLayer, Standing,
};
use proptest::prelude::*;
use tokio::time::{Instant, advance};
use tower::Layer;

use support::*;

fn rate(requests: u32, seconds: u64) -> Rate {
    Rate::new(requests, secs(seconds)).unwrap()
}

fn engine() -> Actor {
    actor([say("a"), done()])
}

fn named(subject: &str) -> Scope {
    Scope::new("s").with_principal(Principal::new("user", "issuer", subject))
}

fn from(address: &str) -> Scope {
    let mut scope = Scope::new("s");
    let address: IpAddr = address.parse().unwrap();
    scope.extensions_mut().insert(Peer::new(address));
    scope
}

async fn ask_as<A: portcullis::Agent + Clone>(agent: &A, scope: &Scope) -> Vec<AgentEvent> {
    let turn = agent.invoke(scope.clone(), Prompt::text("hello"));
    turn.collect().await
}

/// How many turns of so many are admitted.
async fn admitted<A: portcullis::Agent + Clone>(agent: &A, scope: &Scope, turns: usize) -> usize {
    let mut admitted = 0;
    for _ in 0..turns {
        admitted += usize::from(types(&ask_as(agent, scope).await) == "text completed");
    }
    admitted
}

#[tokio::test(start_paused = true)]
async fn hands_on_everything() {
    let layer = RateLimitLayer::new(rate(1_000_000, 3600));
    assert_transparent(|actor| layer.layer(actor)).await;
    assert_drops(everything(), |actor| layer.layer(actor), || true).await;
    let layer = layer.wait_at_most(secs(1));
    assert_transparent(|actor| layer.layer(actor)).await;
    assert_drops(everything(), |actor| layer.layer(actor), || true).await;
    for (name, part) in five_ends() {
        let layer = RateLimitLayer::new(rate(5, 1));
        let ended = to_its_end(&layer.layer(actor(part.clone()))).await;
        assert_eq!(ended, said(&part), "{name}");
    }
}

/// O-B09: the refusal says what it is, that trying again is worth it, and exactly when; the agent is not
/// called, and the first poll has the answer.
#[tokio::test(start_paused = true)]
async fn a_refusal_says_when() {
    let engine = engine();
    let agent = RateLimitLayer::new(rate(3, 30)).layer(engine.clone());
    assert_eq!(admitted(&agent, &Scope::new("s"), 3).await, 3);
    advance(Duration::from_micros(2_500_300)).await;
    let refused = ask(&agent).next().now_or_never();
    let refused = [refused.expect("at once").expect("an event")];
    let refusal = failure(&refused);
    assert!(refusal.is(&FailureCode::RATE_LIMITED) && refusal.is_retryable());
    // Ten seconds after the first turn; rounded up to whole milliseconds.
    let wait = Duration::from_millis(7_500);
    assert_eq!(refusal.after(), Some(wait));
    assert_eq!((engine.seen.calls(), engine.seen.alive()), (3, 0));
    // A refusal costs nothing: neither a request nor time.
    assert_eq!(admitted(&agent, &Scope::new("s"), 50).await, 0);
    advance(Duration::from_micros(7_499_699)).await;
    assert_eq!(
        admitted(&agent, &Scope::new("s"), 1).await,
        0,
        "a microsecond early"
    );
    advance(Duration::from_micros(1)).await;
    assert_eq!(
        admitted(&agent, &Scope::new("s"), 2).await,
        1,
        "and one, not two"
    );
}

/// O-B16: the whole quota is there again after two windows, buckets of those who left are gone, and
/// weeks change nothing.
#[tokio::test(start_paused = true)]
async fn a_full_quota_after_two_windows() {
    let layer = RateLimitLayer::per_principal(rate(5, 60));
    let agent = layer.layer(engine());
    for wait in [
        secs(120),
        secs(7 * 24 * 3600),
        secs(400 * 24 * 3600),
        secs(120),
    ] {
        assert_eq!(admitted(&agent, &named("ada"), 9).await, 5);
        assert_eq!(admitted(&agent, &named("bob"), 9).await, 5);
        assert_eq!(layer.keys(), 2);
        advance(wait).await;
        assert_eq!(layer.keys(), 0, "nobody who left is kept");
    }
    // Half a window is half a quota.
    assert_eq!(admitted(&agent, &named("ada"), 9).await, 5);
    advance(secs(24)).await;
    assert_eq!(admitted(&agent, &named("ada"), 9).await, 2);
}

#[tokio::test(start_paused = true)]
async fn each_key_has_its_own() {
    let one = rate(1, 60);
    // Equal, equal, and another one.
    let scopes = |a: Scope, b: Scope, c: Scope| [a, b, c];
    let tenant = |name: &str| Scope::new("s").with_tenant(name);
    let source = |name: &str| Scope::new("s").with_source(name);
    let session = |name: &str| Scope::new(name);
    async fn check<K: Key + Clone>(layer: RateLimitLayer<K>, [a, b, c]: [Scope; 3]) {
        let agent = layer.layer(engine());
        assert_eq!(admitted(&agent, &a, 1).await, 1);
        assert_eq!(admitted(&agent, &b, 1).await, 0, "shares");
        assert_eq!(admitted(&agent, &c, 1).await, 1, "has its own");
    }
    let per_principal = || RateLimitLayer::per_principal(one);
    check(per_principal(), scopes(named("a"), named("a"), named("b"))).await;
    // Whoever has no name, and comes from an address, or from nowhere.
    check(
        per_principal(),
        scopes(from("10.0.0.1"), from("10.0.0.1"), named("10.0.0.1")),
    )
    .await;
    check(
        per_principal(),
        scopes(session("a"), session("b"), named("a")),
    )
    .await;
    check(
        RateLimitLayer::per_tenant(one),
        scopes(tenant("a"), tenant("a"), tenant("b")),
    )
    .await;
    check(
        RateLimitLayer::per_source(one),
        scopes(source("a"), source("a"), source("b")),
    )
    .await;
    check(
        RateLimitLayer::per_session(one),
        scopes(session("a"), session("a"), session("b")),
    )
    .await;
    // Somebody else who names my session does not use it up.
    let mine = named("ada");
    check(
        RateLimitLayer::per_session(one),
        scopes(session("s"), session("s"), mine),
    )
    .await;
    let by_length = RateLimitLayer::keyed(one, |scope: &Scope| scope.session().len().to_string());
    check(
        by_length,
        scopes(session("ab"), session("cd"), session("abc")),
    )
    .await;
    // Parts do not run into each other.
    assert_ne!(LimitKey::of(&["ab", "c"]), LimitKey::of(&["a", "bc"]));
    assert_ne!(LimitKey::of(&["1:a"]), LimitKey::of(&["", "a"]));
}

/// O-B08: what a caller writes into a header gives it no bucket; another client is not affected. What one
/// owner has of addresses of IPv6 is one.
#[tokio::test(start_paused = true)]
async fn a_forged_address_gives_no_bucket() {
    let proxies: [IpAddr; 2] = ["10.0.0.1", "10.0.0.2"].map(|it| it.parse().unwrap());
    let is_proxy = |address: IpAddr| proxies.contains(&address);
    let peer = |socket: &str, headers: &[&str]| {
        Peer::behind(socket.parse().unwrap(), headers.iter().copied(), is_proxy)
    };
    let agent = RateLimitLayer::per_principal(rate(3, 60)).layer(engine());
    let scope = |peer: Peer| {
        let mut scope = Scope::new("s");
        scope.extensions_mut().insert(peer);
        scope
    };
    let mut granted = 0;
    for call in 0..20 {
        // Directly, with a header of its own; and through a proxy, which adds the truth.
        let forged = format!("9.9.9.{call}");
        let direct = peer("127.0.0.2", &[&forged]);
        granted += admitted(&agent, &scope(direct), 1).await;
        let proxied = peer("10.0.0.1", &[&format!("{forged}, 127.0.0.2, 10.0.0.2")]);
        assert_eq!(proxied, direct);
    }
    assert_eq!(granted, 3);
    assert_eq!(
        admitted(&agent, &from("127.0.0.3"), 9).await,
        3,
        "the other client"
    );

    // Several headers are one list; nonsense ends what a proxy vouches for.
    let two = peer("10.0.0.1", &["9.9.9.9", "127.0.0.2:4711"]);
    assert_eq!(two.address().to_string(), "127.0.0.2");
    assert_eq!(
        peer("10.0.0.1", &["9.9.9.9, unknown"]).address(),
        proxies[0]
    );
    assert_eq!(peer("10.0.0.1", &[]).address(), proxies[0]);
    let six = peer("10.0.0.1", &["9.9.9.9, [2001:db8::1]:443"]);
    assert_eq!(six.network(), "2001:db8::/64");
    assert_eq!(
        Peer::new("2001:db8::ffff:1".parse().unwrap()).network(),
        six.network()
    );
    assert_ne!(
        Peer::new("2001:db8:0:1::1".parse().unwrap()).network(),
        six.network()
    );
    assert_eq!(
        Peer::new("::ffff:1.2.3.4".parse().unwrap()).network(),
        "1.2.3.4"
    );
}

/// Who cannot be told apart pushes nobody out who has a name, at a rate of its own.
#[tokio::test(start_paused = true)]
async fn those_without_a_name_are_counted_apart() {
    let layer = RateLimitLayer::per_principal(rate(2, 60))
        .anonymous(rate(1, 600))
        .max_keys(10);
    let agent = layer.layer(engine());
    assert_eq!(admitted(&agent, &named("ada"), 9).await, 2);
    let mut granted = 0;
    for n in 0..200 {
        granted += admitted(&agent, &from(&format!("10.0.0.{n}")), 1).await;
    }
    // Ten have a bucket, all others share one.
    assert_eq!(granted, 11);
    assert_eq!(layer.keys(), 11, "and one is of somebody with a name");
    let crowded = ask_as(&agent, &from("10.9.9.9")).await;
    assert!(
        failure(&crowded).is(&FailureCode::OVERLOADED),
        "no fault of theirs"
    );
    assert!(failure(&crowded).is_retryable());
    assert_eq!(failure(&crowded).after(), Some(secs(600)));
    let own = ask_as(&agent, &from("10.0.0.1")).await;
    assert!(failure(&own).is(&FailureCode::RATE_LIMITED), "this one is");
    assert_eq!(admitted(&agent, &named("bob"), 9).await, 2);
    // A name of any length takes the same place; none at all is one bucket.
    let nobody = RateLimitLayer::per_principal(rate(2, 60)).max_keys(0);
    let agent = nobody.layer(engine());
    assert_eq!(admitted(&agent, &named("ada"), 1).await, 1);
    assert_eq!(admitted(&agent, &named(&"b".repeat(1 << 20)), 2).await, 1);
    assert_eq!(nobody.keys(), 0);
}

/// What a flood of names pushes out is nobody's used bucket.
#[tokio::test(start_paused = true)]
async fn a_flood_resets_nothing() {
    let layer = RateLimitLayer::per_principal(rate(2, 60)).max_keys(50);
    let agent = layer.layer(engine());
    assert_eq!(admitted(&agent, &named("mallory"), 9).await, 2);
    for n in 0..5_000 {
        ask_as(&agent, &named(&n.to_string())).await;
    }
    assert_eq!(layer.keys(), 50);
    assert_eq!(admitted(&agent, &named("mallory"), 9).await, 0);
    advance(secs(30)).await;
    assert_eq!(admitted(&agent, &named("mallory"), 9).await, 1);
}

/// Whose bucket is full again meets the shared one where there is no room, and is told so.
#[tokio::test(start_paused = true)]
async fn a_look_at_a_bucket_that_is_full_again() {
    let limiter = MemoryLimiter::with_max_keys(rate(1, 4), 1);
    let (ada, bob) = (LimitKey::new("ada"), LimitKey::new("bob"));
    assert_eq!(limiter.take(&ada).await.unwrap(), Decision::Granted);
    advance(secs(3)).await;
    assert_eq!(limiter.take(&bob).await.unwrap(), Decision::Granted);
    advance(secs(1)).await;
    // Bob's went into the bucket that all share, and may have been ada's for all that is known.
    let told = limiter.look(&ada).await.unwrap_err();
    let met = limiter.take(&ada).await.unwrap_err();
    assert_eq!(told.to_string(), met.to_string());
    advance(secs(3)).await;
    assert_eq!(limiter.look(&ada).await.unwrap().remaining, 1);
    assert_eq!(limiter.take(&ada).await.unwrap(), Decision::Granted);
}

#[derive(Clone, Debug)]
enum Step {
    Ask(u8),
    Wait(u16),
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever others do, and however small the memory, no key gets more in any while than a bucket of its
    /// own would give it; and with room for all, it gets exactly that.
    #[test]
    fn nobody_gets_more_than_a_bucket(
        steps in prop::collection::vec(
            prop_oneof![4 => (0..6_u8).prop_map(Step::Ask), 1 => (0..9_000_u16).prop_map(Step::Wait)],
            1..200,
        ),
        max_keys in 0..8_usize,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(async {
            let rate = rate(3, 6);
            let limiter = MemoryLimiter::with_max_keys(rate, max_keys);
            // The model: a bucket for each key, in milliseconds: when it is full again.
            let (mut now, mut full_at) = (0_u64, HashMap::<u8, u64>::new());
            for step in steps {
                match step {
                    Step::Wait(millis) => {
                        advance(Duration::from_millis(millis.into())).await;
                        now += u64::from(millis);
                    }
                    Step::Ask(key) => {
                        let name = LimitKey::new(key.to_string());
                        let before = limiter.look(&name).await;
                        let decision = limiter.take(&name).await;
                        let full = full_at.entry(key).or_default();
                        let free = (*full).max(now) + 2_000 <= now + 6_000;
                        let granted = matches!(decision, Ok(Decision::Granted));
                        // A look says what a request is going to meet.
                        let promised = before.as_ref().is_ok_and(|it| it.remaining > 0);
                        assert_eq!(promised, granted);
                        if granted {
                            assert!(free, "more than a bucket");
                            *full = (*full).max(now) + 2_000;
                        } else if max_keys >= 6 {
                            assert!(!free, "less than a bucket");
                            let wait = Duration::from_millis(*full - 4_000 - now);
                            assert_eq!(decision.unwrap(), Decision::NotYet(wait));
                            assert_eq!(before.unwrap().next, wait);
                        }
                        assert!(limiter.keys() <= max_keys);
                    }
                }
            }
        });
    }
}

/// A thousand at once, on threads, get what there is and no more.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_thousand_at_once() {
    let agent = RateLimitLayer::new(rate(100, 360_000)).layer(engine());
    let mut turns = tokio::task::JoinSet::new();
    for _ in 0..1_000 {
        let agent = agent.clone();
        turns.spawn(async move { types(&events(&agent).await) });
    }
    let ends = turns.join_all().await;
    let granted = ends.iter().filter(|end| *end == "text completed").count();
    assert_eq!((granted, ends.len()), (100, 1_000));
}

/// How long until the turn says something more.
async fn says(
    turn: &mut (impl futures_util::Stream<Item = AgentEvent> + Unpin),
) -> (Duration, String) {
    let began = Instant::now();
    let event = turn.next().await.expect("an event");
    (began.elapsed(), event.type_name().to_owned())
}

#[tokio::test(start_paused = true)]
async fn waits_and_says_so() {
    let engine = engine();
    let layer = RateLimitLayer::new(rate(1, 4)).wait_at_most(secs(10));
    let agent = layer.layer(engine.clone());
    assert_eq!(types(&events(&agent).await), "text completed");
    // Three wait 4, 8, and, being too long, not at all.
    let mut first = Box::pin(ask(&agent));
    let mut second = Box::pin(ask(&agent));
    let announced = |event: Option<AgentEvent>| match event {
        Some(AgentEvent::Retrying(retrying)) => retrying.delay_ms(),
        other => panic!("{other:?}"),
    };
    assert_eq!(announced(first.next().await), 4_000.0);
    assert_eq!(announced(second.next().await), 8_000.0);
    let refused = events(&agent).await;
    assert_eq!(types(&refused), "failed");
    assert!(failure(&refused).is(&FailureCode::RATE_LIMITED));
    assert_eq!(
        failure(&refused).after(),
        Some(secs(12)),
        "behind those who wait"
    );
    assert_eq!(
        (layer.waiting(), engine.seen.calls()),
        (2, 1),
        "the agent knows of none"
    );
    let began = Instant::now();
    let (one, two) = tokio::join!(
        async { (first.collect::<Vec<_>>().await, began.elapsed()) },
        async { (second.collect::<Vec<_>>().await, began.elapsed()) },
    );
    assert_eq!(types(&one.0), "text completed");
    assert_eq!(types(&two.0), "text completed");
    assert_eq!((one.1, two.1), (secs(4), secs(8)), "as announced");
    assert_eq!((layer.waiting(), engine.seen.alive()), (0, 0));
}

/// Who is dropped gives the place to those behind, who are woken for it.
#[tokio::test(start_paused = true)]
async fn a_dropped_turn_gives_its_place() {
    let layer = RateLimitLayer::new(rate(1, 4)).wait_at_most(secs(60));
    let agent = layer.layer(engine());
    events(&agent).await;
    let mut turns: Vec<_> = (0..4).map(|_| Box::pin(ask(&agent))).collect();
    for turn in &mut turns {
        assert_eq!(says(turn).await.1, "retrying");
    }
    assert_eq!(layer.waiting(), 4);
    let third = turns.remove(2);
    let mut fourth = turns.remove(2);
    // They sleep already.
    assert!(fourth.next().now_or_never().is_none());
    drop(turns);
    drop(third);
    assert_eq!(layer.waiting(), 1);
    // The fourth has the place of the first, and the next one that of the second.
    let mut next = Box::pin(ask(&agent));
    assert_eq!(says(&mut next).await.1, "retrying");
    assert_eq!(says(&mut fourth).await, (secs(4), "text".to_owned()));
    assert_eq!(says(&mut next).await, (secs(4), "text".to_owned()));
    // In every state.
    let waits = || {
        let layer = RateLimitLayer::new(rate(1, 1)).wait_at_most(secs(60));
        let first = layer.layer(engine());
        (layer, first)
    };
    for polls in 0..6 {
        let (layer, agent) = waits();
        events(&agent).await;
        let mut turn = Box::pin(ask(&agent));
        for _ in 0..polls {
            if turn.next().now_or_never().is_none() {
                advance(Duration::from_millis(600)).await;
            }
        }
        drop(turn);
        assert_eq!(layer.waiting(), 0, "dropped after {polls} polls");
    }
}

/// Who does not read holds up nobody, and takes what is left when it does.
#[tokio::test(start_paused = true)]
async fn a_caller_who_does_not_read_holds_up_nobody() {
    let agent = RateLimitLayer::new(rate(1, 4))
        .wait_at_most(secs(60))
        .layer(engine());
    events(&agent).await;
    let mut stuck = Box::pin(ask(&agent));
    let mut behind = Box::pin(ask(&agent));
    assert_eq!(says(&mut stuck).await.1, "retrying");
    assert_eq!(says(&mut behind).await.1, "retrying");
    assert_eq!(says(&mut behind).await, (secs(8), "text".to_owned()));
    assert_eq!(says(&mut stuck).await, (secs(4), "text".to_owned()));
}

/// No turn waits for what comes too late for it.
#[tokio::test(start_paused = true)]
async fn never_past_the_deadline() {
    let layer = RateLimitLayer::new(rate(1, 4)).wait_at_most(secs(60));
    let agent = layer.layer(engine());
    events(&agent).await;
    let until = |seconds| {
        let deadline = (Instant::now() + secs(seconds)).into_std();
        Scope::new("s").with_deadline(deadline)
    };
    let refused = ask_as(&agent, &until(4)).await;
    assert_eq!(types(&refused), "failed");
    assert_eq!(failure(&refused).after(), Some(secs(4)));
    assert_eq!(
        types(&ask_as(&agent, &until(5)).await),
        "retrying text completed"
    );
    // So many and no more.
    let layer = RateLimitLayer::new(rate(1, 4))
        .wait_at_most(secs(60))
        .max_waiting(1);
    let agent = layer.layer(engine());
    events(&agent).await;
    let mut waits = Box::pin(ask(&agent));
    assert_eq!(says(&mut waits).await.1, "retrying");
    assert_eq!(types(&events(&agent).await), "failed");
    drop(waits);
    assert_eq!(types(&events(&agent).await), "retrying text completed");
    // No patience is a refusal.
    let agent = RateLimitLayer::new(rate(1, 4))
        .wait_at_most(Duration::ZERO)
        .layer(engine());
    assert_eq!(admitted(&agent, &Scope::new("s"), 3).await, 1);
}

/// Two layers over one limiter are one limit, and one that waits may find its request taken.
#[tokio::test(start_paused = true)]
async fn two_stacks_share_a_limiter() {
    let limiter = MemoryLimiter::new(rate(2, 8));
    let everybody = Everybody::default();
    let layer = || RateLimitLayer::with_limiters(everybody, limiter.clone(), limiter.clone());
    let (one, two) = (layer().layer(engine()), layer().layer(engine()));
    let paced = layer().wait_at_most(secs(10)).layer(engine());
    let scope = Scope::new("s");
    assert_eq!(admitted(&one, &scope, 1).await, 1);
    assert_eq!(admitted(&two, &scope, 2).await, 1);
    assert_eq!(admitted(&one, &scope, 2).await, 0);
    let mut waits = Box::pin(ask(&paced));
    assert_eq!(says(&mut waits).await.1, "retrying");
    assert!(waits.next().now_or_never().is_none());
    advance(secs(4)).await;
    assert_eq!(admitted(&one, &scope, 1).await, 1, "it was quicker");
    assert_eq!(says(&mut waits).await, (secs(4), "text".to_owned()));
    // And again, until it is no use.
    let mut waits = Box::pin(ask(&paced));
    assert_eq!(says(&mut waits).await.1, "retrying");
    for _ in 0..2 {
        assert!(waits.next().now_or_never().is_none());
        advance(secs(4)).await;
        assert_eq!(admitted(&one, &scope, 1).await, 1);
    }
    assert_eq!(says(&mut waits).await.1, "failed");
}

/// A limiter that is out of order.
#[derive(Clone, Debug)]
struct Broken;

impl Limiter for Broken {
    type Take = Ready<Result<Decision, LimiterError>>;
    type Look = Ready<Result<Standing, LimiterError>>;

    fn rate(&self) -> Rate {
        rate(1, 1)
    }

    fn take(&self, _: &LimitKey) -> Self::Take {
        ready(Err(LimiterError::unreachable(
            "redis://:hunter2@cache is down",
        )))
    }

    fn look(&self, _: &LimitKey) -> Self::Look {
        ready(Err(LimiterError::unreachable("down")))
    }
}

/// One that takes its time.
#[derive(Clone, Debug)]
struct Silent;

impl Limiter for Silent {
    type Take = Pending<Result<Decision, LimiterError>>;
    type Look = Pending<Result<Standing, LimiterError>>;

    fn rate(&self) -> Rate {
        rate(1, 1)
    }

    fn take(&self, _: &LimitKey) -> Self::Take {
        pending()
    }

    fn look(&self, _: &LimitKey) -> Self::Look {
        pending()
    }
}

/// O-B09: the limiter's trouble is not "too many requests", and nobody reads its secrets.
#[tokio::test(start_paused = true)]
async fn a_broken_limiter_is_not_too_many_requests() {
    let (log, _guard) = Log::start();
    let layer = || RateLimitLayer::with_limiters(Everybody::default(), Broken, Broken);
    let refused = events(&layer().layer(engine())).await;
    assert!(failure(&refused).is(&FailureCode::UNAVAILABLE));
    assert!(failure(&refused).is_retryable());
    assert!(!failure(&refused).details().contains("hunter2"));
    assert!(
        log.text().contains("cache is down"),
        "the log has the cause"
    );
    let waits = layer().wait_at_most(secs(1)).layer(engine());
    assert!(failure(&events(&waits).await).is(&FailureCode::UNAVAILABLE));
    // Somebody may decide otherwise.
    let open = layer().admit_when_unreachable();
    assert_eq!(
        types(&events(&open.layer(engine())).await),
        "text completed"
    );
    let open = open.wait_at_most(secs(1));
    assert_eq!(
        types(&events(&open.layer(engine())).await),
        "text completed"
    );
    // While it thinks, nothing is called, and a drop is a drop.
    let engine = engine();
    let silent = RateLimitLayer::with_limiters(Everybody::default(), Silent, Silent);
    let mut turn = Box::pin(ask(&silent.layer(engine.clone())));
    assert!(turn.next().now_or_never().is_none());
    drop(turn);
    assert_eq!(engine.seen.calls(), 0);
}

/// For headers: what is left, and when there is more.
#[tokio::test(start_paused = true)]
async fn says_how_somebody_stands() {
    let layer = RateLimitLayer::per_principal(rate(4, 8));
    let agent = layer.layer(engine());
    let (ada, bob) = (named("ada"), named("bob"));
    for (asked, remaining, next, full) in [(0, 4, 0, 0), (1, 3, 0, 2), (3, 0, 2, 8)] {
        admitted(&agent, &ada, asked).await;
        let state = layer.state(&ada).await.unwrap();
        assert_eq!((state.limit, state.remaining), (4, remaining));
        assert_eq!((state.next, state.full), (secs(next), secs(full)));
        assert_eq!(layer.state(&bob).await.unwrap().remaining, 4);
    }
    advance(Duration::from_millis(1_500)).await;
    let state = layer.state(&ada).await.unwrap();
    assert_eq!(
        (state.remaining, state.next),
        (0, Duration::from_millis(500))
    );
    advance(Duration::from_millis(1_500)).await;
    assert_eq!(layer.state(&ada).await.unwrap().remaining, 1);
    assert_eq!(
        layer
            .wait_at_most(secs(1))
            .state(&ada)
            .await
            .unwrap()
            .remaining,
        1
    );
}

#[test]
fn a_rate_that_makes_no_sense_is_none() {
    for (invalid, says) in [
        (Rate::per_second(0), "no request is ever admitted"),
        (
            Rate::per_second(2_000_000),
            "more than a million requests a second",
        ),
        (
            Rate::new(1, Duration::ZERO),
            "more than a million requests a second",
        ),
        (
            Rate::new(1, Duration::MAX),
            "the bucket takes more than ten years to fill",
        ),
        (
            Rate::per_hour(1).unwrap().burst(0),
            "no request is ever admitted",
        ),
        (
            Rate::per_hour(1).unwrap().burst(u32::MAX),
            "the bucket takes more than ten years to fill",
        ),
    ] {
        assert_eq!(invalid.unwrap_err().to_string(), says);
    }
    let seven = Rate::per_minute(7).unwrap().burst(2).unwrap();
    assert_eq!(
        (seven.most_at_once(), seven.interval().as_millis()),
        (2, 8_571)
    );
    assert_eq!(Rate::per_hour(3600), Rate::new(3600, secs(3600)));
}

/// Nothing shows what a key is made of.
#[test]
fn keys_stay_secret() {
    let key = LimitKey::new("sk-secret").anonymous();
    assert_eq!(format!("{key:?}"), "LimitKey { anonymous: true, .. }");
    let layer = RateLimitLayer::keyed(rate(1, 1), |scope: &Scope| scope.session().to_owned());
    let layer = layer.wait_at_most(secs(1));
    drop(layer.layer(engine()));
}
