use std::io::Write;

/// Where to listen: the first argument, else a free port of this machine.
#[must_use]
pub fn address() -> String {
    std::env::args()
        .nth(1)
        .unwrap_or_else(|| "127.0.0.1:0".to_owned())
}

/// Tells whoever started the program. Somebody who does not listen any more does not stop it.
pub fn say(line: &str) {
    drop(writeln!(std::io::stdout(), "{line}"));
}

/// Ready at Ctrl-C, and at SIGTERM where there is such a thing. It listens from the call on, so a
/// program calls it before it says that it is there.
pub fn until_stopped() -> impl Future<Output = ()> + Send + 'static {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let signals = [SignalKind::interrupt(), SignalKind::terminate()].map(signal);
        async move {
            // What cannot be listened to ends the program by itself.
            let waits = signals.into_iter().flatten().map(|mut signal| {
                Box::pin(async move {
                    signal.recv().await;
                })
            });
            let waits: Vec<_> = waits.collect();
            if waits.is_empty() {
                std::future::pending::<()>().await;
            }
            futures_util::future::select_all(waits).await;
        }
    }
    #[cfg(not(unix))]
    async {
        drop(tokio::signal::ctrl_c().await);
    }
}
