//! Over real sockets: clients that hang up, and the end of a server.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use bytes::Bytes;
use futures_util::StreamExt;
use http_body_util::{BodyExt, Full};
use portcullis_a2a::{
    binding::{Layout, OnePort},
    client::{Binding, CallError, Client},
    log::{MemoryLog, TaskLog},
    model::{
        AgentCard, Artifact, ErrorKind, GetTaskRequest, Message, Part, SendMessageRequest,
        SubscribeToTaskRequest, TaskState,
    },
    server::{Server, executor_fn},
};
use portcullis_net::{HttpClient, HttpClientBuilder, bind};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    sync::{Semaphore, oneshot},
    task::JoinSet,
    time::timeout,
};
use tower::ServiceExt;

/// A server of an agent that writes an artifact, waits for the test, and completes.
struct Rig {
    address: SocketAddr,
    log: Arc<MemoryLog>,
    server: Server,
    gate: Arc<Semaphore>,
    stop: Option<oneshot::Sender<()>>,
    serving: JoinSet<()>,
}

impl Rig {
    async fn start() -> Self {
        let gate = Arc::new(Semaphore::new(0));
        let waits = Arc::clone(&gate);
        let executor = executor_fn(move |ctx: portcullis_a2a::server::RequestContext, out| {
            let gate = Arc::clone(&waits);
            async move {
                out.emit(ctx.status(TaskState::Working)).await;
                out.emit(ctx.artifact(Artifact::text("a-1", "before")))
                    .await;
                gate.acquire().await.unwrap().forget();
                out.emit(ctx.artifact(Artifact::text("a-2", "after"))).await;
                out.emit(ctx.status(TaskState::Completed)).await;
            }
        });
        let listener = bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let log = Arc::new(MemoryLog::new());
        let interfaces = Layout::new().interfaces(&format!("http://{address}"));
        let card = AgentCard::of_interfaces("n", "d", interfaces);
        let server = Server::builder(executor, card).log(log.clone()).build();
        let (stop, stopped) = oneshot::channel::<()>();
        let mut serving = JoinSet::new();
        serving.spawn(portcullis_net::Server::new().serve(
            listener,
            OnePort::new(server.clone()),
            async move { drop(stopped.await) },
        ));
        Self {
            address,
            log,
            server,
            gate,
            stop: Some(stop),
            serving,
        }
    }

    fn client(
        &self,
    ) -> Client<
        HttpClient<
            hyper_util::client::legacy::connect::HttpConnector,
            http_body_util::Full<bytes::Bytes>,
        >,
    > {
        let url = format!("http://{}/", self.address).parse().unwrap();
        Client::new(HttpClient::new(), url)
    }

    /// Waits until so many watch.
    async fn watchers(&self, expected: usize) {
        let settled = async {
            while self.log.bells() != expected {
                tokio::task::yield_now().await;
            }
        };
        if timeout(Duration::from_secs(5), settled).await.is_err() {
            panic!("{} watchers, not {expected}", self.log.bells());
        }
    }

    async fn state(&self, id: &str) -> TaskState {
        self.client()
            .get_task(&GetTaskRequest::new(id))
            .await
            .unwrap()
            .status
            .state
    }

    async fn completes(&self, id: &str) {
        let completed = async {
            while self.state(id).await != TaskState::Completed {
                tokio::task::yield_now().await;
            }
        };
        timeout(Duration::from_secs(5), completed)
            .await
            .expect("the task completes");
    }
}

fn hello() -> SendMessageRequest {
    SendMessageRequest::new(Message::user("m-1", [Part::text("hello")]))
}

#[tokio::test]
async fn a_killed_socket_ends_only_the_watching() {
    // O-D01, O-D03, O-D05
    let rig = Rig::start().await;
    let body = serde_json::json!({"jsonrpc": "2.0", "id": 1, "method": "SendStreamingMessage", "params": hello()}).to_string();
    let mut socket = TcpStream::connect(rig.address).await.unwrap();
    let head = format!(
        "POST / HTTP/1.1\r\nhost: h\r\na2a-version: 1.0\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    socket.write_all((head + &body).as_bytes()).await.unwrap();
    let mut text = String::new();
    while !text.contains("artifactUpdate") {
        let mut buffer = [0; 4096];
        let read = socket.read(&mut buffer).await.unwrap();
        assert_ne!(read, 0, "closed after {text}");
        text.push_str(std::str::from_utf8(&buffer[..read]).unwrap());
    }
    rig.watchers(1).await;
    let first = text
        .lines()
        .find_map(|line| line.strip_prefix("data: "))
        .unwrap();
    let first: serde_json::Value = serde_json::from_str(first).unwrap();
    let id = first["result"]["task"]["id"].as_str().unwrap();

    // Reset, not closed: the server gets no end of file.
    socket.set_zero_linger().unwrap();
    drop(socket);
    rig.watchers(0).await;
    assert_eq!(rig.state(id).await, TaskState::Working, "the turn goes on");
    rig.gate.add_permits(1);
    rig.completes(id).await;
    let task = rig
        .client()
        .get_task(&GetTaskRequest::new(id))
        .await
        .unwrap();
    assert_eq!(
        task.artifacts.len(),
        2,
        "what came after the hang-up is there"
    );
    rig.watchers(0).await;
}

#[tokio::test]
async fn many_clients_that_leave_leave_nothing() {
    // O-D03, O-D07
    let rig = Rig::start().await;
    let client = rig.client();
    let mut caller = client.send_streaming_message(&hello()).await.unwrap();
    caller.next().await.unwrap().unwrap();
    let id = caller.task_id().unwrap().to_owned();
    let descriptors = || std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
    let before = descriptors();
    for _ in 0..500 {
        let mut watcher = client
            .subscribe_to_task(&SubscribeToTaskRequest::new(&id), None)
            .await
            .unwrap();
        watcher.next().await.unwrap().unwrap();
    }
    rig.watchers(1).await;
    let settled = async {
        while descriptors() > before + 10 {
            tokio::task::yield_now().await;
        }
    };
    timeout(Duration::from_secs(5), settled)
        .await
        .expect("descriptors stay flat");
    rig.gate.add_permits(1);
    let rest: Vec<_> = caller.collect().await;
    assert!(rest.iter().all(Result::is_ok), "{rest:?}");
    rig.watchers(0).await;
}

#[tokio::test]
async fn a_caller_that_gives_up_is_noticed() {
    // O-D05, A2A-OP-34: a blocking call that is dropped leaves its task.
    let rig = Rig::start().await;
    let client = rig.client();
    let waited = timeout(Duration::from_millis(100), client.send_message(&hello())).await;
    assert!(waited.is_err());
    rig.watchers(0).await;
    rig.gate.add_permits(1);
    let list = client.list_tasks(&Default::default()).await.unwrap();
    rig.completes(&list.tasks[0].id).await;
}

#[tokio::test]
async fn the_end_of_a_server_ends_its_streams() {
    // O-D04: the stream ends cleanly, and the caller learns that the task did not.
    let mut rig = Rig::start().await;
    let mut caller = rig.client().send_streaming_message(&hello()).await.unwrap();
    caller.next().await.unwrap().unwrap();
    rig.stop.take().unwrap().send(()).unwrap();
    let ended = async {
        let last = caller.by_ref().collect::<Vec<_>>().await.pop().unwrap();
        assert!(
            matches!(
                last,
                Err(CallError::Cut {
                    task_id: Some(_),
                    ..
                })
            ),
            "{last:?}"
        );
        rig.serving.join_next().await.unwrap().unwrap();
        rig.server.shut_down(Duration::from_millis(100)).await;
    };
    timeout(Duration::from_secs(2), ended)
        .await
        .expect("in time");
}

// O-D04: over gRPC too, by a status that says that it may be tried again, also where nobody ends the
// streams but the host.
#[tokio::test]
async fn the_end_of_a_host_ends_streams_of_grpc() {
    let mut rig = Rig::start().await;
    let url = format!("http://{}/", rig.address).parse().unwrap();
    let http = HttpClientBuilder::new().http2_only().build();
    let client: Client<HttpClient<_, Full<Bytes>>> = Client::over(Binding::Grpc, http, url);
    let mut caller = client.send_streaming_message(&hello()).await.unwrap();
    for _ in ["the task", "working", "before"] {
        caller.next().await.unwrap().unwrap();
    }
    rig.stop.take().unwrap().send(()).unwrap();
    let ended = async {
        let last = caller.next().await.unwrap().unwrap_err();
        let refusal = last.as_refusal().unwrap_or_else(|| panic!("{last:?}"));
        assert_eq!(refusal.kind(), ErrorKind::Unavailable);
        assert_eq!(refusal.message(), "The server is shutting down");
        drop(caller);
        rig.serving.join_next().await.unwrap().unwrap();
    };
    timeout(Duration::from_secs(2), ended)
        .await
        .expect("in time");
}

// O-M04: a caller that sends too much reads why, whatever carries it, although nobody reads the rest.
#[tokio::test]
async fn too_much_is_told_over_both_versions_of_http() {
    let rig = Rig::start().await;
    for http2 in [false, true] {
        let builder = HttpClientBuilder::new();
        let builder = if http2 { builder.http2_only() } else { builder };
        let http: HttpClient<_, Full<Bytes>> = builder.build();
        for path in ["/", "/rest/message:send"] {
            let request = http::Request::post(format!("http://{}{path}", rig.address))
                .header("content-type", "application/json")
                .header("a2a-version", "1.0")
                .body(Full::from(vec![b'x'; 20 << 20]))
                .unwrap();
            let answered = timeout(Duration::from_secs(5), http.clone().oneshot(request));
            let response = answered.await.expect("in time");
            let response = response.unwrap_or_else(|error| panic!("{http2} {path}: {error:?}"));
            assert_eq!(response.status(), 413, "{http2} {path}");
            let body = response.into_body().collect().await.unwrap().to_bytes();
            let text = String::from_utf8(body.to_vec()).unwrap();
            assert!(text.contains("A body may have 10485760 bytes"), "{text}");
        }
    }
}

/// Reads until a text has come.
async fn read_until(socket: &mut TcpStream, text: &mut String, wanted: &str) {
    let reading = async {
        while !text.contains(wanted) {
            let mut buffer = [0; 4096];
            let read = socket.read(&mut buffer).await.unwrap();
            assert_ne!(read, 0, "closed after {text}");
            text.push_str(std::str::from_utf8(&buffer[..read]).unwrap());
        }
    };
    if timeout(Duration::from_secs(5), reading).await.is_err() {
        panic!("no {wanted} in {text:?}");
    }
}

#[tokio::test]
async fn a_body_that_comes_in_two_halves() {
    // O-R05: the body is read before the stream begins, also when the client asks first.
    for (path, envelope) in [("/", true), ("/rest/message:stream", false)] {
        for expect in ["", "expect: 100-continue\r\n"] {
            let rig = Rig::start().await;
            rig.gate.add_permits(1);
            let body = if envelope {
                serde_json::json!({"jsonrpc": "2.0", "id": 1, "method": "SendStreamingMessage", "params": hello()})
            } else {
                serde_json::json!(hello())
            };
            let body = body.to_string();
            let (one, two) = body.split_at(body.len() / 2);
            let mut socket = TcpStream::connect(rig.address).await.unwrap();
            let head = format!(
                "POST {path} HTTP/1.1\r\nhost: h\r\na2a-version: 1.0\r\ncontent-type: application/json\r\n{expect}content-length: {}\r\n\r\n",
                body.len()
            );
            let mut text = String::new();
            socket.write_all(head.as_bytes()).await.unwrap();
            if !expect.is_empty() {
                read_until(&mut socket, &mut text, "100 Continue").await;
            }
            socket.write_all(one.as_bytes()).await.unwrap();
            tokio::time::sleep(Duration::from_millis(200)).await;
            assert!(
                !text.contains("200 OK"),
                "nothing is answered to half a body"
            );
            socket.write_all(two.as_bytes()).await.unwrap();
            read_until(&mut socket, &mut text, "TASK_STATE_COMPLETED").await;
            assert!(text.contains("content-type: text/event-stream"), "{text}");
            assert!(!text.to_lowercase().contains("content-length"), "{text}");
        }
    }
}
