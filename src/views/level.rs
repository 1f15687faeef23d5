use super::view;

view! {
    /// `context`: how full the model's context window is.
    Context = "context" {
        /// The tokens in it.
        used: u64 = "used",
        /// The tokens that fit.
        size: u64 = "size",
    } optional {}
}

view! {
    /// `budget`: how much of a budget is used; a warning, while the turn goes on.
    Budget = "budget" {
        /// What is counted: `tokens`, `tool_calls`.
        meter: String = "meter",
        /// How much is used.
        used: u64 = "used",
        /// How much there is.
        limit: u64 = "limit",
    } optional {
        /// Of what it is the budget: a `turn`, a `session`.
        scope: String = "scope",
    }
}
