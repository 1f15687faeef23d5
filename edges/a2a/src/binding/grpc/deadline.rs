use std::time::Duration;

use http::HeaderMap;
use tokio::time::Instant;
use tonic::Status;

/// How long a caller waits for a call to end; `None` is for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Deadline(Option<Instant>);

impl Deadline {
    /// What `grpc-timeout` says. One that is not as gRPC has it says nothing.
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let timeout = headers.get("grpc-timeout").and_then(|value| {
            let value = value.to_str().ok()?;
            let (digits, unit) = value.split_at_checked(value.len().checked_sub(1)?)?;
            parse(digits, unit)
        });
        // A moment that no clock reaches is for ever too.
        Self(timeout.and_then(|timeout| Instant::now().checked_add(timeout)))
    }

    pub(super) const fn never() -> Self {
        Self(None)
    }

    pub(super) const fn at(self) -> Option<Instant> {
        self.0
    }

    /// What a call that takes longer ends with. A task that it opened goes on (A2A-OP-34).
    pub(super) fn passed() -> Status {
        Status::deadline_exceeded("The deadline of the call has passed")
    }

    /// Waits for an answer until then.
    pub(super) async fn within<T>(self, answer: impl Future<Output = T>) -> Result<T, Status> {
        match self.0 {
            Some(at) => tokio::time::timeout_at(at, answer)
                .await
                .map_err(|_| Self::passed()),
            None => Ok(answer.await),
        }
    }
}

/// At most eight digits, and a unit.
fn parse(digits: &str, unit: &str) -> Option<Duration> {
    let is_number =
        (1..=8).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    let number: u64 = digits.parse().ok().filter(|_| is_number)?;
    Some(match unit {
        "H" => Duration::from_secs(number * 60 * 60),
        "M" => Duration::from_secs(number * 60),
        "S" => Duration::from_secs(number),
        "m" => Duration::from_millis(number),
        "u" => Duration::from_micros(number),
        "n" => Duration::from_nanos(number),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(timeout: &str) -> Option<Duration> {
        let mut headers = HeaderMap::new();
        headers.insert("grpc-timeout", timeout.parse().unwrap());
        let at = Deadline::of(&headers).at();
        at.map(|at| at.duration_since(Instant::now()))
    }

    #[tokio::test(start_paused = true)]
    async fn timeouts_are_as_grpc_has_them() {
        assert_eq!(of("2H"), Some(Duration::from_secs(7_200)));
        assert_eq!(of("3M"), Some(Duration::from_secs(180)));
        assert_eq!(of("4S"), Some(Duration::from_secs(4)));
        assert_eq!(of("5m"), Some(Duration::from_millis(5)));
        assert_eq!(of("6000u"), Some(Duration::from_millis(6)));
        assert_eq!(of("7000000n"), Some(Duration::from_millis(7)));
        for none in ["", "S", "5", "5s", "-1S", "+1S", "123456789S", "1 S"] {
            assert_eq!(of(none), None, "{none:?}");
        }
        assert_eq!(Deadline::of(&HeaderMap::new()).at(), None);
    }
}
