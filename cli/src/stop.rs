#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::{sync::watch, task::JoinSet};

/// Tells everybody when, and how often, the program was asked to stop: by Ctrl-C, or by `SIGTERM`.
///
/// The second time it is to end at once, though not by `exit`: what is dropped kills the
/// programs that it runs.
#[derive(Debug)]
pub(crate) struct Stop {
    asked: watch::Receiver<u8>,
    /// Listens as long as this lives.
    _signals: JoinSet<()>,
}

impl Stop {
    /// Listens from now on: a signal that comes right after is not missed.
    pub(crate) fn on_signals() -> Self {
        let (ask, asked) = watch::channel(0);
        let mut heard = Signals::listen();
        let mut signals = JoinSet::new();
        signals.spawn(async move {
            for times in [1, 2] {
                heard.next().await;
                ask.send_replace(times);
            }
        });
        Self {
            asked,
            _signals: signals,
        }
    }

    /// Ready once the program was asked to stop.
    pub(crate) fn asked(&self) -> impl Future<Output = ()> + Send + use<> {
        self.at_least(1)
    }

    /// Ready once the program was asked to stop again.
    pub(crate) fn asked_again(&self) -> impl Future<Output = ()> + Send + use<> {
        self.at_least(2)
    }

    /// Whether the program was asked to stop.
    pub(crate) fn was_asked(&self) -> bool {
        *self.asked.borrow() > 0
    }

    fn at_least(&self, times: u8) -> impl Future<Output = ()> + Send + use<> {
        let mut asked = self.asked.clone();
        async move {
            // The sender lives until it was asked twice.
            let _ = asked.wait_for(|asked| *asked >= times).await;
        }
    }
}

/// What asks a program to stop. Where one cannot be listened to, it ends the program by itself.
#[cfg(unix)]
struct Signals([Option<Signal>; 2]);

#[cfg(unix)]
impl Signals {
    fn listen() -> Self {
        Self([SignalKind::interrupt(), SignalKind::terminate()].map(|kind| signal(kind).ok()))
    }

    async fn next(&mut self) {
        let [interrupt, terminate] = &mut self.0;
        tokio::select! {
            () = one(interrupt) => {}
            () = one(terminate) => {}
        }
    }
}

#[cfg(unix)]
async fn one(signal: &mut Option<Signal>) {
    let Some(signal) = signal else {
        return std::future::pending().await;
    };
    if signal.recv().await.is_none() {
        std::future::pending().await
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn listen() -> Self {
        Self
    }

    async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
