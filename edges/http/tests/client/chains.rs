//! Turns that nobody reads any more, and how soon that is known at the other end.

use std::{future::pending, time::Duration};

use futures_util::{FutureExt, StreamExt};
use portcullis::{
    AgentEvent, AgentExt, BoxAgent, BoxEventStream, Emitter, Failure, Prompt, Scope, agent_fn,
};
use portcullis_http::{client::HttpAgent, server::TurnService};
use portcullis_net::{HttpClient, HttpClientBuilder, bind};
use tokio::{sync::watch, task::JoinSet, time::timeout};

use crate::support::*;

struct Counted(watch::Sender<usize>);

impl Counted {
    fn new(alive: watch::Sender<usize>) -> Self {
        alive.send_modify(|alive| *alive += 1);
        Self(alive)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.send_modify(|alive| *alive -= 1);
    }
}

/// An agent that hangs, after a word or before, and how many turns of it are alive.
pub(crate) fn hangs(speaks: bool) -> (BoxAgent, watch::Receiver<usize>) {
    let alive = watch::Sender::new(0);
    let counts = alive.subscribe();
    let agent = agent_fn(move |_: Scope, _: Prompt, out: Emitter| {
        let counted = Counted::new(alive.clone());
        async move {
            let _counted = counted;
            if speaks {
                out.emit(AgentEvent::text("a")).await;
            }
            pending::<Result<(), Failure>>().await
        }
    });
    (BoxAgent::new(agent), counts)
}

fn turn_of(agent: &BoxAgent) -> BoxEventStream {
    BoxEventStream::new(agent.invoke(Scope::new("s"), Prompt::text("p")))
}

/// In one process, before `drop` returns.
#[tokio::test(start_paused = true)]
async fn a_dropped_turn_is_gone_behind_three_gates() {
    for format in FORMATS {
        for speaks in [true, false] {
            let (mut agent, alive) = hangs(speaks);
            for _ in 0..3 {
                agent = gate(agent, format);
            }
            let mut turn = turn_of(&agent);
            if speaks {
                assert_eq!(turn.next().await.expect("an event").type_name(), "text");
            }
            assert!(turn.next().now_or_never().is_none());
            assert_eq!(*alive.borrow(), 1);
            drop(turn);
            assert_eq!(*alive.borrow(), 0, "{speaks}");
        }
    }
}

#[tokio::test]
async fn a_dropped_turn_is_soon_gone_behind_three_sockets() {
    for (speaks, http2) in [(true, false), (false, false), (true, true), (false, true)] {
        let (mut agent, mut alive) = hangs(speaks);
        let mut serving = JoinSet::new();
        for gate in 0..3 {
            let listener = bind("127.0.0.1:0").await.unwrap();
            let url = format!("http://{}/", listener.local_addr().unwrap());
            let service = TurnService::new(agent);
            serving.spawn(portcullis_net::Server::new().serve(listener, service, pending()));
            let http = HttpClientBuilder::new();
            let http = if http2 { http.http2_only() } else { http };
            let client = HttpAgent::new(http.build(), url.parse().unwrap());
            agent = BoxAgent::new(client.format(FORMATS[gate % 2]));
        }
        let mut turn = turn_of(&agent);
        if speaks {
            assert_eq!(turn.next().await.expect("an event").type_name(), "text");
        } else {
            let begins = timeout(Duration::from_secs(5), async {
                let begun = alive.wait_for(|alive| *alive == 1);
                tokio::select! {
                    event = turn.next() => panic!("{event:?}"),
                    begun = begun => drop(begun.unwrap()),
                }
            });
            begins.await.expect("it runs");
        }
        assert_eq!(*alive.borrow_and_update(), 1);
        drop(turn);
        let gone = timeout(Duration::from_secs(5), alive.wait_for(|alive| *alive == 0));
        assert!(gone.await.is_ok(), "{speaks} {http2}: it runs on");
    }
}

/// A connection that was read to the end of a turn serves the next one.
#[tokio::test]
async fn a_connection_is_used_again() {
    let listener = bind("127.0.0.1:0").await.unwrap();
    let url: http::Uri = format!("http://{}/", listener.local_addr().unwrap())
        .parse()
        .unwrap();
    let peers = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let sees = std::sync::Arc::clone(&peers);
    let service = TurnService::new(emits(vec![AgentEvent::text("a"), AgentEvent::completed()]))
        .scope_with(move |head, _| {
            let peer = head.extensions.get::<portcullis_net::Peer>().unwrap();
            sees.lock().unwrap().push(peer.address());
        });
    let mut serving = JoinSet::new();
    serving.spawn(portcullis_net::Server::new().serve(listener, service, pending()));
    for format in FORMATS {
        let agent = BoxAgent::new(HttpAgent::new(HttpClient::new(), url.clone()).format(format));
        peers.lock().unwrap().clear();
        for _ in 0..20 {
            assert_eq!(said(&agent).await.len(), 2);
        }
        let peers = peers.lock().unwrap();
        let mut distinct = peers.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert!(distinct.len() < 5, "{distinct:?}");
    }
}
