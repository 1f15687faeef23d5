use ::metrics::{Unit, describe_counter, describe_gauge, describe_histogram};

use crate::semconv;

pub(super) const TURNS: &str = "portcullis.turns";
pub(super) const ACTIVE: &str = "portcullis.turns.active";
pub(super) const FIRST_EVENT: &str = "portcullis.turn.time_to_first_event";
pub(super) const FIRST_TOKEN: &str = "portcullis.turn.time_to_first_token";
pub(super) const COST: &str = "portcullis.turn.cost";

/// Tells the recorder that is installed what the numbers mean. Once, after it was installed.
pub fn describe() {
    let seconds = Unit::Seconds;
    describe_histogram!(semconv::TURN_DURATION, seconds, "how long turns take");
    describe_histogram!(semconv::TURN_CALLS, Unit::Count, "model calls a turn");
    describe_histogram!(semconv::TURN_TOOLS, Unit::Count, "tools a turn");
    describe_histogram!(semconv::CALL_TOKENS, Unit::Count, "tokens a model call");
    describe_counter!(TURNS, Unit::Count, "turns that are over");
    describe_gauge!(ACTIVE, Unit::Count, "turns that run");
    describe_histogram!(FIRST_EVENT, seconds, "time to the first event");
    describe_histogram!(FIRST_TOKEN, seconds, "time to the first text or thinking");
    describe_histogram!(COST, "what turns cost that have a price");
}
