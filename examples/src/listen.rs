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

/// Ready at Ctrl-C, and at SIGTERM where there is such a thing.
pub async fn until_stopped() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminated) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminated.recv() => {}
            }
            return;
        }
    }
    drop(tokio::signal::ctrl_c().await);
}
