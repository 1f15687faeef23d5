use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use http::{Method, Request, Uri};
use http_body_util::Full;
use tokio::{runtime::Handle, sync::watch, task::JoinSet, time::timeout};

use super::Transport;

/// How long a server may take to hear that nobody wants a turn any more, and how many are told at once.
const LIMIT: Duration = Duration::from_secs(10);
const AT_ONCE: usize = 1024;

/// The tasks that tell servers. They end with this value.
#[derive(Default)]
pub(super) struct Farewells {
    running: Mutex<JoinSet<()>>,
    open: watch::Sender<usize>,
}

impl Farewells {
    /// Waits until there is nobody to tell.
    pub(super) async fn settle(&self) {
        let mut open = self.open.subscribe();
        // The sender is here, so it does not fail.
        let _settled = open.wait_for(|open| *open == 0).await;
    }

    fn tell<T: Transport>(&self, transport: T, place: Uri) {
        // Without a runtime the server has to wait for nothing.
        let Ok(runtime) = Handle::try_current() else {
            return;
        };
        let Ok(request) = Request::builder()
            .method(Method::DELETE)
            .uri(place)
            .body(Full::default())
        else {
            return;
        };
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        while running.try_join_next().is_some() {}
        if running.len() >= AT_ONCE {
            tracing::warn!("a turn is left to its server: too many wait to be cancelled");
            return;
        }
        let open = Open::new(self.open.clone());
        let telling = async move {
            let _open = open;
            if timeout(LIMIT, transport.exchange(request)).await.is_err() {
                tracing::warn!("a turn is left to its server, which does not answer");
            }
        };
        running.spawn_on(telling, &runtime);
    }
}

impl fmt::Debug for Farewells {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Farewells")
            .field("open", &*self.open.borrow())
            .finish_non_exhaustive()
    }
}

/// One more to be told, for as long as it is there.
struct Open(watch::Sender<usize>);

impl Open {
    fn new(open: watch::Sender<usize>) -> Self {
        open.send_modify(|open| *open += 1);
        Self(open)
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.send_modify(|open| *open -= 1);
    }
}

/// Tells the server of a turn that nobody wants it any more, when it is dropped before the turn is over.
pub(super) struct Farewell<T: Transport> {
    farewells: Arc<Farewells>,
    to: Option<(T, Uri)>,
}

impl<T: Transport> Farewell<T> {
    pub(super) fn new(farewells: &Arc<Farewells>, transport: T, place: Uri) -> Self {
        Self {
            farewells: Arc::clone(farewells),
            to: Some((transport, place)),
        }
    }

    /// There is nobody to tell.
    pub(super) fn dismiss(mut self) {
        self.to = None;
    }
}

impl<T: Transport> Drop for Farewell<T> {
    fn drop(&mut self) {
        if let Some((transport, place)) = self.to.take() {
            self.farewells.tell(transport, place);
        }
    }
}
