//! `serve --rate`: who shares a limit with whom, over sockets.

use std::{
    io::{BufRead, BufReader},
    net::{IpAddr, SocketAddr},
    process::{Child, Command, Stdio},
};

use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpSocket,
};

struct Served {
    child: Child,
    address: SocketAddr,
}

impl Served {
    fn start(arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_portcullis"))
            .args(["serve", "--listen", "127.0.0.1:0", "--engine", "exec"])
            .args(arguments)
            .args(["--", "cat"])
            .env_remove("RUST_LOG")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        let mut first = String::new();
        BufReader::new(child.stdout.take().expect("piped"))
            .read_line(&mut first)
            .expect("it says where it is");
        let (_, address) = first
            .trim()
            .trim_end_matches('/')
            .rsplit_once("//")
            .expect("an address");
        let address = address.parse().expect("an address");
        Self { child, address }
    }

    /// The code of the answer to a message from this address: 0 if it went well.
    async fn ask(&self, from: &str, forwarded_for: Option<&str>) -> i64 {
        let body = r#"{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hi"}]}}}"#;
        let forwarded_for = forwarded_for
            .map(|hops| format!("X-Forwarded-For: {hops}\r\n"))
            .unwrap_or_default();
        let request = format!(
            "POST / HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Type: application/json\r\n\
             A2A-Version: 1.0\r\n{forwarded_for}Content-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let socket = TcpSocket::new_v4().expect("a socket");
        let from: IpAddr = from.parse().expect("an address");
        socket
            .bind((from, 0).into())
            .expect("an address of this machine");
        let mut connection = socket.connect(self.address).await.expect("it listens");
        connection
            .write_all(request.as_bytes())
            .await
            .expect("sent");
        let mut answer = String::new();
        connection
            .read_to_string(&mut answer)
            .await
            .expect("an answer");
        let (_, body) = answer.split_once("\r\n\r\n").expect("a body");
        let body: Value = serde_json::from_str(body).unwrap_or_else(|_| panic!("{answer}"));
        assert!(!answer.contains("127.0.0."), "nobody is told: {answer}");
        body["error"]["code"].as_i64().unwrap_or_else(|| {
            let state = &body["result"]["task"]["status"]["state"];
            assert_eq!(state, "TASK_STATE_COMPLETED", "{body}");
            0
        })
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A refusal whose reason is that there was too much.
const TOO_MANY: i64 = -32000;

// O-B08: two clients on two loopback addresses, and one that makes its own address up.
#[tokio::test]
async fn each_address_has_a_limit_of_its_own() {
    let served = Served::start(&["--rate", "1"]);
    assert_eq!(served.ask("127.0.0.2", None).await, 0);
    for made_up in 0..5 {
        let hop = format!("203.0.113.{made_up}");
        assert_eq!(served.ask("127.0.0.2", Some(&hop)).await, TOO_MANY, "{hop}");
    }
    assert_eq!(served.ask("127.0.0.3", None).await, 0);
}

#[tokio::test]
async fn a_proxy_is_believed_that_was_named() {
    let served = Served::start(&["--rate", "1", "--trust-proxy", "127.0.0.4/31"]);
    // 127.0.0.4 is a proxy. Whom it names last is who calls.
    assert_eq!(
        served
            .ask("127.0.0.4", Some("198.51.100.9, 203.0.113.1"))
            .await,
        0
    );
    assert_eq!(
        served
            .ask("127.0.0.4", Some("198.51.100.8, 203.0.113.1"))
            .await,
        TOO_MANY
    );
    assert_eq!(served.ask("127.0.0.4", Some("203.0.113.2")).await, 0);
    // A chain of proxies.
    assert_eq!(
        served
            .ask("127.0.0.4", Some("203.0.113.2, 127.0.0.5"))
            .await,
        TOO_MANY
    );
    // Nobody named this one.
    assert_eq!(served.ask("127.0.0.6", Some("203.0.113.3")).await, 0);
    assert_eq!(served.ask("127.0.0.6", Some("203.0.113.4")).await, TOO_MANY);
}
