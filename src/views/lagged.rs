use super::view;

view! {
    /// `lagged`: here an observer of a turn has missed events, since it was slow. The turn went on
    /// and lost nothing.
    Lagged = "lagged" {
        /// How many events are missing here.
        missed: u64 = "missed",
    } optional {}
}
