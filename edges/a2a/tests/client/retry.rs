//! Calls that are made again, and those that never are.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use futures_util::future::{BoxFuture, join_all};
use http::{Request, Response};
use http_body_util::Full;
use portcullis_a2a::{
    client::{Binding, CallError, Client, Resume, Retries, Unsent},
    model::{
        CancelTaskRequest, DeleteTaskPushNotificationConfigRequest, GetExtendedAgentCardRequest,
        GetTaskPushNotificationConfigRequest, GetTaskRequest,
        ListTaskPushNotificationConfigsRequest, ListTasksRequest, SubscribeToTaskRequest,
        TaskPushNotificationConfig,
    },
    server::Operation,
};
use portcullis_net::HttpClient;
use tokio::time::Instant;
use tower::{Service, util::MapErr};

use crate::{
    raw::{Act, Raw, chunk, chunked, send},
    scripted::{Reply, Scripted},
    site::{Site, reply},
    support::message,
};

async fn call<T: portcullis_a2a::client::Transport>(
    client: &Client<T>,
    operation: Operation,
) -> Result<(), CallError> {
    let call: BoxFuture<'_, Result<(), CallError>> = match operation {
        Operation::SendMessage => {
            Box::pin(async { client.send_message(&message()).await.map(drop) })
        }
        Operation::SendStreamingMessage => {
            Box::pin(async { client.send_streaming_message(&message()).await.map(drop) })
        }
        Operation::GetTask => {
            Box::pin(async { client.get_task(&GetTaskRequest::new("t")).await.map(drop) })
        }
        Operation::ListTasks => Box::pin(async {
            client
                .list_tasks(&ListTasksRequest::default())
                .await
                .map(drop)
        }),
        Operation::CancelTask => Box::pin(async {
            client
                .cancel_task(&CancelTaskRequest::new("t"))
                .await
                .map(drop)
        }),
        Operation::SubscribeToTask => Box::pin(async {
            let request = SubscribeToTaskRequest::new("t");
            client.subscribe_to_task(&request, None).await.map(drop)
        }),
        Operation::CreateTaskPushNotificationConfig => Box::pin(async {
            let config = TaskPushNotificationConfig::new("t", "https://h/hook");
            client.create_push_config(&config).await.map(drop)
        }),
        Operation::GetTaskPushNotificationConfig => Box::pin(async {
            let request = GetTaskPushNotificationConfigRequest::new("t", "c");
            client.push_config(&request).await.map(drop)
        }),
        Operation::ListTaskPushNotificationConfigs => Box::pin(async {
            let request = ListTaskPushNotificationConfigsRequest::new("t");
            client.list_push_configs(&request).await.map(drop)
        }),
        Operation::DeleteTaskPushNotificationConfig => Box::pin(async {
            let request = DeleteTaskPushNotificationConfigRequest::new("t", "c");
            client.delete_push_config(&request).await
        }),
        Operation::GetExtendedAgentCard => Box::pin(async {
            let request = GetExtendedAgentCardRequest::default();
            client.extended_card(&request).await.map(drop)
        }),
    };
    call.await
}

const READS: [Operation; 6] = [
    Operation::GetTask,
    Operation::ListTasks,
    Operation::SubscribeToTask,
    Operation::GetTaskPushNotificationConfig,
    Operation::ListTaskPushNotificationConfigs,
    Operation::GetExtendedAgentCard,
];

/// How often a call is made that always fails in the same way.
async fn tries(operation: Operation, fault: Reply) -> usize {
    let server = Scripted::new(vec![fault; 9]);
    let client = server.client().idle_timeout(Duration::from_secs(5));
    let client = client.retrying(Retries::new().tries(4));
    call(&client, operation).await.unwrap_err();
    server.calls().len()
}

#[tokio::test(start_paused = true)]
async fn only_reading_calls_are_made_again() {
    // O-B04
    for operation in Operation::ALL {
        let reads = READS.contains(&operation);
        for (fault, reading, others) in [
            // Nothing was sent.
            (Reply::Broken, 4, 4),
            // Nothing was taken on.
            (Reply::Status(503, Some("1")), 4, 4),
            (Reply::Status(429, Some("1")), 4, 4),
            // It may have been.
            (Reply::Hangs, 4, 1),
            (Reply::Status(503, None), 4, 1),
            (Reply::Status(429, None), 4, 1),
            (Reply::Status(502, Some("1")), 4, 1),
            (Reply::Status(504, None), 4, 1),
            (Reply::Status(408, None), 4, 1),
            // It will go no better.
            (Reply::Status(500, None), 1, 1),
            (Reply::Status(501, Some("1")), 1, 1),
            (Reply::Status(400, None), 1, 1),
            (Reply::Status(401, Some("1")), 1, 1),
            (Reply::Refused(-32001), 1, 1),
            (Reply::Refused(-32603), 1, 1),
            (Reply::Result(serde_json::json!([])), 1, 1),
            // Nobody waits for so long.
            (Reply::Status(503, Some("3600")), 1, 1),
        ] {
            // To some, an answer that nobody understands will do.
            let takes_all = operation == Operation::DeleteTaskPushNotificationConfig;
            if takes_all && matches!(fault, Reply::Result(_)) {
                continue;
            }
            let expected = if reads { reading } else { others };
            let made = tries(operation, fault.clone()).await;
            assert_eq!(made, expected, "{operation} after {fault:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_second_try_counts() {
    let server = Scripted::new([
        Reply::Broken,
        Reply::Status(503, Some("7")),
        Reply::Result(serde_json::json!({"id": "t", "status": {"state": "TASK_STATE_WORKING"}})),
    ]);
    let client = server.client().retrying(Retries::new());
    let began = Instant::now();
    client.get_task(&GetTaskRequest::new("t")).await.unwrap();
    let waited = began.elapsed();
    assert!(
        waited >= Duration::from_secs(7) && waited < Duration::from_secs(8),
        "{waited:?}"
    );
    // Nobody asks twice who was not told to.
    let server = Scripted::new([Reply::Broken]);
    server
        .client()
        .get_task(&GetTaskRequest::new("t"))
        .await
        .unwrap_err();
    assert_eq!(server.left(), 0);
}

#[tokio::test(start_paused = true)]
async fn an_outage_is_not_made_worse() {
    // O-B15
    let site = Site::new(|_| reply(503, &[], ""));
    let client = Client::over(Binding::Rest, site.clone(), "http://h/".parse().unwrap());
    let client = client.retrying(Retries::new().tries(5));
    let calls = (0..100).map(|_| {
        let client = client.clone();
        async move {
            client
                .get_task(&GetTaskRequest::new("t"))
                .await
                .unwrap_err()
        }
    });
    join_all(calls).await;
    let made = site.count();
    assert!((110..=120).contains(&made), "{made} requests for 100 calls");
    // And then there is little left, until calls have been made.
    client
        .get_task(&GetTaskRequest::new("t"))
        .await
        .unwrap_err();
    assert!(site.count() <= 2);
}

#[tokio::test(start_paused = true)]
async fn tries_of_two_kinds_do_not_multiply() {
    // O-B15
    let working =
        serde_json::json!({"task": {"id": "t", "status": {"state": "TASK_STATE_WORKING"}}});
    let replies = [Reply::Events(vec![(None, working)])];
    let server = Scripted::new(replies.into_iter().chain(vec![Reply::Broken; 20]));
    let client = server.client().retrying(Retries::new().tries(4));
    let stream = client.send_streaming_message(&message()).await.unwrap();
    let stream = client.resuming(stream, Resume::new().tries(3));
    let items: Vec<_> = futures_util::StreamExt::collect(stream).await;
    assert!(
        matches!(&items[..], [Ok(_), Err(CallError::Transport(_))]),
        "{items:?}"
    );
    assert_eq!(server.calls().len(), 1 + 3);
}

/// A transport that is never ready.
#[derive(Clone)]
struct Closed(Arc<AtomicUsize>);

impl Service<Request<Full<Bytes>>> for Closed {
    type Response = Response<Full<Bytes>>;
    type Error = io::Error;
    type Future = std::future::Pending<Result<Self::Response, io::Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Poll::Ready(Err(io::ErrorKind::Other.into()))
    }

    fn call(&mut self, _: Request<Full<Bytes>>) -> Self::Future {
        panic!("it is not ready")
    }
}

#[tokio::test(start_paused = true)]
async fn a_transport_says_that_nothing_was_sent() {
    let asked = Arc::new(AtomicUsize::new(0));
    let url = || "http://h/".parse().unwrap();
    for binding in [Binding::JsonRpc, Binding::Rest, Binding::Grpc] {
        let client = Client::over(binding, Closed(Arc::clone(&asked)), url());
        let client = client.retrying(Retries::new());
        client.send_message(&message()).await.unwrap_err();
        assert_eq!(asked.swap(0, Ordering::Relaxed), 3, "{binding}");
    }
    // By what it knows, whatever that is.
    let count = Arc::clone(&asked);
    let fails = tower::service_fn(move |_: Request<Full<Bytes>>| {
        count.fetch_add(1, Ordering::Relaxed);
        std::future::ready(Err::<Response<Full<Bytes>>, _>(io::Error::other(
            "no such host",
        )))
    });
    let client = Client::new(fails.clone(), url()).retrying(Retries::new());
    client.send_message(&message()).await.unwrap_err();
    assert_eq!(asked.swap(0, Ordering::Relaxed), 1);
    let client = Client::new(MapErr::new(fails, Unsent::new), url()).retrying(Retries::new());
    client.send_message(&message()).await.unwrap_err();
    assert_eq!(asked.swap(0, Ordering::Relaxed), 3);
}

#[tokio::test]
async fn faults_of_real_connections() {
    // O-B04: through sockets.
    // A budget each: clones would share it.
    let quickly = || Retries::new().waits(Duration::from_millis(1), Duration::from_secs(2));
    for binding in [Binding::JsonRpc, Binding::Rest] {
        for (acts, reading, sending) in [
            // Closed, reset, or cut off in the middle of the reply.
            (vec![], 3, 1),
            (vec![Act::Reset], 3, 1),
            (vec![chunked("application/json"), chunk("{")], 3, 1),
            (
                vec![send(
                    "HTTP/1.1 503 Busy\r\nretry-after: 0\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
                )],
                3,
                3,
            ),
            (
                vec![send(
                    "HTTP/1.1 400 No\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
                )],
                1,
                1,
            ),
        ] {
            let mut raw = Raw::start(acts.clone()).await;
            let client = raw.client(binding).retrying(quickly());
            for (operation, expected) in [
                (Operation::GetTask, reading),
                (Operation::SendMessage, sending),
            ] {
                call(&client, operation).await.unwrap_err();
                for _ in 0..expected {
                    raw.taken().await;
                }
                assert_eq!(raw.connections(), 0, "{operation} {acts:?}");
            }
        }
    }
    // Nobody listens: found out by the error alone.
    let address = std::net::TcpListener::bind("127.0.0.1:0")
        .and_then(|listener| listener.local_addr())
        .unwrap();
    let url = format!("http://{address}/").parse().unwrap();
    let client = Client::over(Binding::Rest, HttpClient::new(), url);
    let attempts = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&attempts);
    let client = client.layer(&tower::layer::layer_fn(move |inner| {
        let counter = Arc::clone(&counter);
        tower::util::MapRequest::new(inner, move |request: Request<Full<Bytes>>| {
            counter.fetch_add(1, Ordering::Relaxed);
            request
        })
    }));
    let client = client.retrying(quickly());
    call(&client, Operation::SendMessage).await.unwrap_err();
    assert_eq!(attempts.load(Ordering::Relaxed), 3);
}
