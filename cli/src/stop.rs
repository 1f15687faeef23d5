use std::process;

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
    pub(crate) fn on_signals() -> Self {
        let (stop, stopped) = watch::channel(false);
        let mut signals = JoinSet::new();
        signals.spawn(async move {
            signal().await;
            stop.send_replace(true);
            signal().await;
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

async fn signal() {
    let interrupt = async {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let terminate = async {
            match signal(SignalKind::terminate()) {
                Ok(mut signals) => {
                    signals.recv().await;
                }
                Err(_) => std::future::pending().await,
            }
        };
        tokio::select! {
            () = interrupt => {}
            () = terminate => {}
        }
    }
    #[cfg(not(unix))]
    interrupt.await;
}
