use super::view;
use crate::json::Json;

view! {
    /// `follow_up`: a run of the turn has ended and another one begins, with a prompt that was
    /// queued meanwhile. What comes after it is another answer.
    FollowUp = "follow_up" {
        /// The number of the run that begins; the first one of a turn is 1.
        run: u64 = "run",
    } optional {
        /// The text of the prompt that it begins with.
        text: String = "text",
        /// The structured data of the run that has ended, which has no `completed` of its own.
        data: Json = "data",
    }
}
