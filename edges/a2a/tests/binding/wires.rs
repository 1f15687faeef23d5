//! The same calls through a socket and in the process: over each binding, the same answers.

use std::{future::pending, net::SocketAddr};

use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper_util::client::legacy::connect::HttpConnector;
use portcullis::Principal;
use portcullis_a2a::{
    client::{Binding, Client, Resume, Retries},
    server::Operation,
};
use portcullis_net::{HttpClient, HttpClientBuilder, bind};
use serde_json::json;
use tokio::task::JoinSet;
use tower::util::MapRequest;

use crate::{
    both::{attempt, client, comparable, say, texts, value},
    support::{Rig, card, rig_of},
};

/// The server of a rig, behind a socket, until it is dropped.
struct Served {
    address: SocketAddr,
    _serving: JoinSet<()>,
}

impl Served {
    async fn start(rig: &Rig) -> Self {
        let listener = bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let service = MapRequest::new(rig.service(), |mut request: Request<Incoming>| {
            let me = Principal::new("user", "issuer", "me");
            request.extensions_mut().insert(me);
            request
        });
        let mut serving = JoinSet::new();
        serving.spawn(portcullis_net::Server::new().serve(listener, service, pending()));
        Self {
            address,
            _serving: serving,
        }
    }

    fn client(&self, binding: Binding) -> Client<HttpClient<HttpConnector, Full<Bytes>>> {
        let path = match binding {
            Binding::JsonRpc => "rpc",
            Binding::Rest => "rest/",
            _ => "",
        };
        let http = match binding {
            Binding::Grpc => HttpClientBuilder::new().http2_only(),
            _ => HttpClientBuilder::new(),
        };
        let url = format!("http://{}/{path}", self.address);
        Client::over(binding, http.build(), url.parse().unwrap()).retrying(Retries::new())
    }
}

fn extended() -> serde_json::Value {
    let mut card = card();
    card["capabilities"]["extendedAgentCard"] = json!(true);
    card
}

#[tokio::test]
async fn a_socket_changes_nothing() {
    for &binding in Binding::ALL {
        for text in ["ask", "artifact", "absent"] {
            for operation in Operation::ALL {
                let near = rig_of(&extended(), texts);
                let here = client(&near, binding, Some("me"));
                let far = rig_of(&extended(), texts);
                let served = Served::start(&far).await;
                let there = served.client(binding);

                let task = value(here.send_message(&say(text)).await.unwrap());
                assert_eq!(task, value(there.send_message(&say(text)).await.unwrap()));
                let id = match text {
                    "absent" => "no/such task?",
                    _ => task["task"]["id"].as_str().unwrap(),
                };
                let in_process = comparable(attempt(&here, operation, id).await);
                let by_socket = comparable(attempt(&there, operation, id).await);
                assert_eq!(in_process, by_socket, "{binding} {operation} on {text}");
            }
        }
    }
}

#[tokio::test]
async fn a_stream_ends_well_over_every_wire() {
    use futures_util::StreamExt;

    for &binding in Binding::ALL {
        let rig = rig_of(&extended(), texts);
        let served = Served::start(&rig).await;
        let client = served.client(binding);
        let stream = client.send_streaming_message(&say("artifact")).await;
        let stream = client.resuming(stream.unwrap(), Resume::new());
        let events: Vec<_> = stream.collect().await;
        assert!(
            events.len() >= 3 && events.iter().all(Result::is_ok),
            "{binding}: {events:?}"
        );
    }
}
