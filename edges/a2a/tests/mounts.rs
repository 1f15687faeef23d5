//! One service in three hosts: it answers alike, streams included, and the card is where it belongs.

use std::{convert::Infallible, error::Error, future::pending};

use axum::Router;
use bytes::Bytes;
use futures_util::StreamExt;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use portcullis_a2a::{
    binding::JsonRpc,
    client::{Client, Event, Transport, fetch_card},
    model::{
        AgentCard, AgentInterface, Artifact, Message, Part, SendMessageRequest, StreamResponse,
        TaskState,
    },
    server::{Server, executor_fn},
};
use portcullis_net::{HttpClient, bind};
use tonic::{service::Routes, transport::server::TcpIncoming};
use tower::{Service, ServiceExt, service_fn};

fn echo(url: &str) -> Server {
    let echo = executor_fn(async |ctx, out| {
        out.emit(ctx.status(TaskState::Working)).await;
        out.emit(ctx.artifact(Artifact::text("a-1", "done"))).await;
        out.emit(ctx.status(TaskState::Completed)).await;
    });
    Server::new(
        echo,
        AgentCard::new("Echo", "Says done.", AgentInterface::json_rpc(url)),
    )
}

fn hello() -> SendMessageRequest {
    SendMessageRequest::new(Message::user("m-1", [Part::text("hello")]))
}

/// Fetches the card at `url` and streams from the interface that it names.
async fn converse<T: Transport>(transport: T, url: &str) {
    let card = fetch_card(&transport, url).await.unwrap();
    let client = Client::of_card(transport, &card).unwrap();
    let stream = client.send_streaming_message(&hello()).await.unwrap();
    let kinds: Vec<_> = stream.map(|event| kind(&event.unwrap())).collect().await;
    assert_eq!(kinds, ["task", "status", "artifact", "status"]);
}

fn kind(event: &Event) -> &'static str {
    match event.response {
        StreamResponse::Task(_) => "task",
        StreamResponse::Message(_) => "message",
        StreamResponse::StatusUpdate(_) => "status",
        StreamResponse::ArtifactUpdate(_) => "artifact",
        _ => "unknown",
    }
}

/// The status and the text of a plain request.
async fn get(url: &str) -> (u16, String) {
    let request = Request::get(url).body(Full::<Bytes>::default()).unwrap();
    let response = HttpClient::new().oneshot(request).await.unwrap();
    let status = response.status().as_u16();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (status, String::from_utf8(body.to_vec()).unwrap())
}

#[tokio::test]
async fn in_the_same_process() {
    converse(
        JsonRpc::new(echo("http://in.process/")),
        "http://in.process",
    )
    .await;
}

#[tokio::test]
async fn in_axum() -> Result<(), Box<dyn Error>> {
    let listener = bind("127.0.0.1:0").await?;
    let origin = format!("http://{}", listener.local_addr()?);
    let url = format!("{origin}/agents/echo");
    let agent = JsonRpc::new(echo(&url)).path("/agents/echo");
    let app = Router::new()
        .route("/", axum::routing::get(async || "an application"))
        .route_service("/agents/echo", agent.clone())
        .route_service("/agents/echo/{*rest}", agent.clone())
        .route_service("/.well-known/{*rest}", agent);
    let calls = async {
        // O-C01: from the origin, and below the agent.
        converse(HttpClient::new(), &origin).await;
        converse(HttpClient::new(), &url).await;
        assert_eq!(get(&origin).await, (200, "an application".to_owned()));
    };
    tokio::select! {
        served = axum::serve(listener, app) => served?,
        () = calls => {}
    }
    Ok(())
}

#[tokio::test]
async fn nested_in_axum() {
    // axum strips the prefix: the service is at its own root.
    let app = Router::new().nest_service("/nested", JsonRpc::new(echo("http://h/nested/")));
    let app = service_fn(move |request: Request<Full<Bytes>>| {
        let app = app.clone();
        async move { app.oneshot(request.map(axum::body::Body::new)).await }
    });
    converse(app, "http://h/nested").await;
}

#[tokio::test]
async fn in_hyper() -> Result<(), Box<dyn Error>> {
    let listener = bind("127.0.0.1:0").await?;
    let url = format!("http://{}/", listener.local_addr()?);
    let agent = JsonRpc::new(echo(&url));
    let calls = async {
        converse(HttpClient::new(), &url).await;
        assert_eq!(get(&format!("{url}elsewhere")).await.0, 404);
    };
    tokio::select! {
        () = portcullis_net::Server::new().serve(listener, agent, pending()) => unreachable!("no stop"),
        () = calls => {}
    }
    Ok(())
}

#[tokio::test]
async fn in_tonic() -> Result<(), Box<dyn Error>> {
    let incoming = TcpIncoming::bind("127.0.0.1:0".parse()?)?.with_nodelay(Some(true));
    let url = format!("http://{}/", incoming.local_addr()?);
    let agent = JsonRpc::new(echo(&url));
    let routes = Routes::from(Router::new().fallback_service(agent));
    let server = tonic::transport::Server::builder()
        .accept_http1(true)
        .add_routes(routes);
    tokio::select! {
        served = server.serve_with_incoming(incoming) => served?,
        () = converse(HttpClient::new(), &url) => {}
    }
    Ok(())
}

#[test]
fn it_asks_no_more_of_a_body_than_hosts_give() {
    // Bodies of axum and tonic are Send and not Sync; axum asks for a Sync service.
    fn mounts<S, B>(_: &S)
    where
        S: Service<Request<B>, Error = Infallible> + Clone + Send + Sync + 'static,
        S::Response: Into<Response<portcullis_a2a::binding::ResponseBody>>,
        S::Future: Send,
    {
    }
    let service = JsonRpc::new(echo("http://h/"));
    mounts::<_, axum::body::Body>(&service);
    mounts::<_, tonic::body::Body>(&service);
    mounts::<_, hyper::body::Incoming>(&service);
    mounts::<_, Full<Bytes>>(&service);
}
