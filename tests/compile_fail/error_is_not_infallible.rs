//! The most common one: a service that can err.
use std::{
    future::{Ready, ready},
    io,
    task::{Context, Poll},
};

use portcullis::{AgentEvent, AgentExt, Prompt, Scope};

#[derive(Clone)]
struct Engine;

impl tower_service::Service<(Scope, Prompt)> for Engine {
    type Response = futures_util::stream::Empty<AgentEvent>;
    type Error = io::Error;
    type Future = Ready<Result<Self::Response, io::Error>>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), io::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _request: (Scope, Prompt)) -> Self::Future {
        ready(Ok(futures_util::stream::empty()))
    }
}

fn main() {
    let _ = portcullis::BoxAgent::new(Engine);
    let _ = Engine.invoke(Scope::new("s"), Prompt::text("p"));
}
