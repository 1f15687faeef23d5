use std::{
    future::{Future, poll_fn},
    pin::pin,
    task::{Context, Poll},
};

use tokio::time::{Instant, Sleep, sleep_until};

use super::record::{Record, Step};
use crate::server::turn::Turn;

/// Runs a turn for its readers, and keeps what it said until nobody comes any more. Dropping it cancels
/// the turn.
pub(super) async fn run(mut turn: Turn, record: &Record) {
    let mut alarm = pin!(sleep_until(Instant::now()));
    poll_fn(|cx| poll(&mut turn, record, alarm.as_mut(), cx)).await;
    // The turn first: who reads is told when it is gone.
    drop(turn);
    record.cancel();
}

fn poll(
    turn: &mut Turn,
    record: &Record,
    mut alarm: std::pin::Pin<&mut Sleep>,
    cx: &mut Context<'_>,
) -> Poll<()> {
    loop {
        let (step, until) = record.step(cx);
        match step {
            Step::Stop => return Poll::Ready(()),
            Step::Run => {
                if let Poll::Ready(Some(line)) = turn.poll_line(cx) {
                    record.push(line);
                    continue;
                }
            }
            Step::Wait => {}
        }
        let Some(until) = until else {
            return Poll::Pending;
        };
        if alarm.deadline() != until {
            alarm.as_mut().reset(until);
        }
        return alarm.as_mut().poll(cx);
    }
}
