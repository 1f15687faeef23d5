use super::view;

view! {
    /// `citation`: what the text before it rests on.
    Citation = "citation" {
        /// What is cited: any URI.
        url: String = "url",
    } optional {
        /// Its title.
        title: String = "title",
        /// The words that are cited.
        quote: String = "quote",
    }
}
