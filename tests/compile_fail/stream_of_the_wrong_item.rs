//! A stream that yields text instead of events.
use std::{
    convert::Infallible,
    future::{Ready, ready},
    task::{Context, Poll},
};

use portcullis::{BoxAgent, Prompt, Scope};

#[derive(Clone)]
struct Engine;

impl tower_service::Service<(Scope, Prompt)> for Engine {
    type Response = futures_util::stream::Empty<String>;
    type Error = Infallible;
    type Future = Ready<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _request: (Scope, Prompt)) -> Self::Future {
        ready(Ok(futures_util::stream::empty()))
    }
}

fn main() {
    let _ = BoxAgent::new(Engine);
}
