use super::view;
use crate::json::Json;

view! {
    /// `input_required`: the turn will complete with a question, and the next prompt of
    /// the session is the answer.
    InputRequired = "input_required" {
        /// For people.
        question: String = "question",
    } optional {
        /// The JSON Schema that an answer for machines shall fit.
        schema: Json = "schema",
    }
}

view! {
    /// `auth_required`: the turn waits until somebody has signed in elsewhere, and then goes on.
    AuthRequired = "auth_required" {
        /// What is needed, for people.
        details: String = "details",
    } optional {
        /// Where to sign in.
        url: String = "url",
    }
}
