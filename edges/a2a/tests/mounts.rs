//! One service in three hosts: it answers alike, streams included, and the card is where it belongs.

use std::{convert::Infallible, error::Error, fs, future::pending};

use axum::Router;
use bytes::Bytes;
use futures_util::StreamExt;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use portcullis_a2a::{
    binding::{Grpc, JsonRpc, Layout, OnePort, Rest},
    client::{Binding, Client, Event, Transport, fetch_card},
    model::{
        AgentCard, AgentInterface, Artifact, Message, Part, SendMessageRequest, StreamResponse,
        TaskState,
    },
    server::{Server, executor_fn},
};
use portcullis_net::{HttpClient, HttpClientBuilder, Tls, Trust, bind};
use tonic::{service::Routes, transport::server::TcpIncoming};
use tower::{Service, ServiceExt, service_fn};

fn echo(url: &str) -> Server {
    serving(vec![AgentInterface::json_rpc(url)])
}

/// A server of these interfaces.
fn serving(interfaces: Vec<AgentInterface>) -> Server {
    let echo = executor_fn(async |ctx, out| {
        out.emit(ctx.status(TaskState::Working)).await;
        out.emit(ctx.artifact(Artifact::text("a-1", "done"))).await;
        out.emit(ctx.status(TaskState::Completed)).await;
    });
    Server::new(
        echo,
        AgentCard::of_interfaces("Echo", "Says done.", interfaces),
    )
}

fn hello() -> SendMessageRequest {
    SendMessageRequest::new(Message::user("m-1", [Part::text("hello")]))
}

/// Fetches the card at `url` and streams from the interface that it names.
async fn converse<T: Transport>(transport: T, url: &str) {
    converse_over(transport.clone(), transport, url).await;
}

/// The same over sockets, where gRPC needs HTTP/2 from the first byte.
async fn converse_at(url: &str) {
    let http2 = HttpClientBuilder::new().http2_only().build();
    converse_over(HttpClient::new(), http2, url).await;
}

async fn converse_over(transport: impl Transport, http2: impl Transport, url: &str) {
    let card = fetch_card(&transport, url).await.unwrap();
    // Every interface that the card names is there.
    for interface in &card.supported_interfaces {
        let binding = *Binding::ALL
            .iter()
            .find(|binding| binding.as_str() == interface.protocol_binding)
            .unwrap();
        if binding == Binding::Grpc {
            let client = Client::of_card_over(&[binding], http2.clone(), &card).unwrap();
            assert_eq!(client.url().authority().unwrap().as_str(), interface.url);
            echoes(&client).await;
            continue;
        }
        let client = Client::of_card_over(&[binding], transport.clone(), &card).unwrap();
        assert_eq!(
            (client.binding(), client.url()),
            (binding, &interface.url.parse().unwrap())
        );
        echoes(&client).await;
    }
}

async fn echoes(client: &Client<impl Transport>) {
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
async fn grpc_alone() {
    let server = serving(vec![AgentInterface::grpc("h:443")]);
    converse(Grpc::new(server), "http://h").await;
}

/// Each binding alone, and each somewhere else: A2A-GEN-5, ruling 21.
#[tokio::test]
async fn each_where_the_host_wants_it() {
    converse(
        Rest::new(serving(vec![AgentInterface::rest("http://h/")])),
        "http://h",
    )
    .await;
    let rest = vec![AgentInterface::rest("http://h/agents/echo/v1/")];
    converse(
        Rest::new(serving(rest)).path("agents/echo/v1/"),
        "http://h/agents/echo/v1",
    )
    .await;
    for (layout, urls) in [
        (Layout::new(), ["http://h", "http://h/rest"]),
        (
            Layout::default().below("a/b/"),
            ["http://h/a/b", "http://h/a/b/rest"],
        ),
        (
            Layout::new().json_rpc_at("rpc").rest_at("/"),
            ["http://h/rpc", "http://h"],
        ),
        (
            Layout::new().below("/a").json_rpc_at("/rpc").rest_at("/"),
            ["http://h/a/rpc", "http://h/a"],
        ),
        (
            Layout::new().json_rpc_at("/x/y").rest_at("/x"),
            ["http://h/x/y", "http://h/x"],
        ),
    ] {
        let interfaces = layout.interfaces("http://h/");
        let named: Vec<_> = interfaces.iter().map(|interface| &*interface.url).collect();
        assert_eq!(named, [urls[0], urls[1], "h:80"]);
        let app = OnePort::with_layout(serving(interfaces), &layout);
        converse(app.clone(), "http://h").await;
        converse(app, urls[1]).await;
    }
}

/// What a proxy took off the path is in the card and not in the layout (O-C03).
#[tokio::test]
async fn behind_a_proxy_that_takes_a_prefix_off() {
    let layout = Layout::new().below("/echo");
    let public = "https://agents.example.com/public";
    let app = OnePort::with_layout(serving(layout.interfaces(public)), &layout);
    let proxy = service_fn(move |request: Request<Full<Bytes>>| {
        let app = app.clone();
        async move {
            let (mut head, body) = request.into_parts();
            let path = head.uri.path_and_query().unwrap().as_str();
            // It knows the methods of gRPC, which have no prefix.
            let path = path.strip_prefix("/public").unwrap_or(path);
            assert!(
                path.starts_with("/echo")
                    || path.starts_with(Grpc::PATH)
                    || path.starts_with("/.well"),
                "{path}"
            );
            head.uri = path.parse().unwrap();
            head.headers
                .insert("host", "internal:8080".parse().unwrap());
            app.oneshot(Request::from_parts(head, body)).await
        }
    });
    converse(proxy, "https://agents.example.com/public/echo").await;
}

#[tokio::test]
async fn in_axum() -> Result<(), Box<dyn Error>> {
    let listener = bind("127.0.0.1:0").await?;
    let origin = format!("http://{}", listener.local_addr()?);
    let layout = Layout::new().below("/agents/echo");
    let url = format!("{origin}/agents/echo");
    let agent = OnePort::with_layout(serving(layout.interfaces(&origin)), &layout);
    let app = Router::new()
        .route("/", axum::routing::get(async || "an application"))
        .route_service("/agents/echo", agent.clone())
        .route_service("/agents/echo/{*rest}", agent.clone())
        .route_service(&format!("{}/{{*rest}}", Grpc::PATH), agent.clone())
        .route_service("/.well-known/{*rest}", agent);
    let calls = async {
        // O-C01: from the origin, and below the agent.
        converse_at(&origin).await;
        converse_at(&url).await;
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
    let layout = Layout::new();
    let agent = OnePort::new(serving(layout.interfaces("http://h/nested")));
    let app = Router::new()
        .route_service(&format!("{}/{{*rest}}", Grpc::PATH), agent.clone())
        .nest_service("/nested", agent);
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
        converse_at(&url).await;
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
    let agent = OnePort::new(serving(Layout::new().interfaces(&url)));
    let routes = Routes::from(Router::new().fallback_service(agent));
    let server = tonic::transport::Server::builder()
        .accept_http1(true)
        .add_routes(routes);
    tokio::select! {
        served = server.serve_with_incoming(incoming) => served?,
        () = converse_at(&url) => {}
    }
    Ok(())
}

#[tokio::test]
async fn over_tls() -> Result<(), Box<dyn Error>> {
    let files = tempfile::tempdir()?;
    let [certificate, key] = ["server.crt", "server.key"].map(|name| files.path().join(name));
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()])?;
    fs::write(&certificate, made.cert.pem())?;
    fs::write(&key, made.signing_key.serialize_pem())?;
    let listener = bind("localhost:0").await?;
    let url = format!("https://localhost:{}", listener.local_addr()?.port());
    let agent = OnePort::new(serving(Layout::new().interfaces(&url)));
    let server = portcullis_net::Server::new().tls(Tls::from_files(&certificate, &key)?);
    let trust = Trust::none().add_pem_file(&certificate)?;
    tokio::select! {
        () = server.serve(listener, agent, pending()) => unreachable!("no stop"),
        // HTTP/2 is chosen in the handshake.
        () = converse(HttpClientBuilder::new().build_tls(trust), &url) => {}
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
    let service = OnePort::new(serving(Layout::new().interfaces("http://h/")));
    mounts::<_, axum::body::Body>(&service);
    mounts::<_, tonic::body::Body>(&service);
    mounts::<_, hyper::body::Incoming>(&service);
    mounts::<_, Full<Bytes>>(&service);
}
