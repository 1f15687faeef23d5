//! The road over the loopback.

use std::{fs, net::SocketAddr, time::Duration};

use bytes::Bytes;
use futures_util::future::{BoxFuture, FutureExt};
use http_body_util::Full;
use hyper_util::client::legacy::connect::HttpConnector;
use portcullis_a2a::client::Binding;
use portcullis_net::{HttpClient, HttpClientBuilder, Server, bind};
use tokio::{
    sync::oneshot,
    task::JoinSet,
    time::{sleep, timeout},
};

use crate::world::{
    Front, Road,
    wire::{Line, line},
};

type Http = HttpClient<HttpConnector, Full<Bytes>>;

/// A server that listens, and clients with pools of connections to it.
pub(crate) struct Sockets {
    address: SocketAddr,
    http: Http,
    /// gRPC needs HTTP/2 from the first byte.
    http2: Http,
    serving: JoinSet<()>,
    stop: oneshot::Sender<()>,
}

impl Sockets {
    pub(crate) async fn to(front: Front) -> Self {
        let listener = bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("it listens");
        let (stop, stopped) = oneshot::channel::<()>();
        let mut serving = JoinSet::new();
        serving.spawn(
            Server::new()
                .grace(GRACE)
                .serve(listener, front, async move { drop(stopped.await) }),
        );
        Self {
            address,
            http: HttpClient::new(),
            http2: HttpClientBuilder::new().http2_only().build(),
            serving,
            stop,
        }
    }
}

impl Road for Sockets {
    fn line(&self, binding: Binding) -> Line {
        line(if binding == Binding::Grpc {
            self.http2.clone()
        } else {
            self.http.clone()
        })
    }

    fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    fn close(self: Box<Self>) -> BoxFuture<'static, ()> {
        async move {
            let Self { mut serving, .. } = *self;
            self.stop.send(()).expect("it serves until then");
            let served = timeout(GRACE * 2, serving.join_next()).await;
            served
                .expect("it ends in time")
                .expect("it was there")
                .expect("it ends well");
            drop((self.http, self.http2));
            for _ in 0..1_000 {
                if sockets(self.address.port()) == 0 {
                    return;
                }
                sleep(Duration::from_millis(5)).await;
            }
            panic!("{} sockets are left", sockets(self.address.port()));
        }
        .boxed()
    }
}

/// How many sockets of a port somebody holds. What only waits for the system to forget it is
/// nobody's.
fn sockets(port: u16) -> usize {
    let table = fs::read_to_string("/proc/self/net/tcp").expect("a Linux");
    let port = format!(":{port:04X}");
    let held = table.lines().skip(1).filter(|line| {
        let fields: Vec<_> = line.split_whitespace().collect();
        let ours = fields[1].ends_with(&port) || fields[2].ends_with(&port);
        ours && fields[9] != "0"
    });
    held.count()
}

/// How long requests may take to finish.
const GRACE: Duration = Duration::from_secs(2);
