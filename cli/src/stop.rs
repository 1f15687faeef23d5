use std::process;

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::{sync::watch, task::JoinSet};

/// Tells everybody when the program was asked to stop: by Ctrl-C, or by `SIGTERM`.
///
/// The second time it ends at once.
#[derive(Debug)]
pub(crate) struct Stop {
    stopped: watch::Receiver<bool>,
    /// Listens as long as this lives.
    _signals: JoinSet<()>,
}

impl Stop {
    /// Listens from now on: a signal that comes right after is not missed.
    pub(crate) fn on_signals() -> Self {
        let (stop, stopped) = watch::channel(false);
        let mut asked = Signals::listen();
        let mut signals = JoinSet::new();
        signals.spawn(async move {
            asked.next().await;
            stop.send_replace(true);
            asked.next().await;
            process::exit(130);
        });
        Self {
            stopped,
            _signals: signals,
        }
    }

    /// Ready once the program was asked to stop.
    pub(crate) fn asked(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut stopped = self.stopped.clone();
        async move {
            // The sender lives as long as the task that listens.
            let _ = stopped.wait_for(|stopped| *stopped).await;
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
