use super::{LayerOptions, layer};
use crate::conformance::{AnyLayer, Report, pair};

/// Proves layers right in every ordered pair, each with itself included.
///
/// An entry is a name, what makes the layer, and what it does on purpose.
///
/// ```
/// use portcullis::{
///     BoxAgent, Next, TurnLayer, from_fn,
///     conformance::{AnyLayer, LayerOptions, suite},
/// };
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() {
/// let table: &[(&str, fn() -> AnyLayer, LayerOptions)] = &[
///     ("watch", || AnyLayer::new(TurnLayer::new(|_: &mut _, _: &mut _| ())), LayerOptions::new()),
///     (
///         "again",
///         || {
///             AnyLayer::new(from_fn(async |scope, prompt, mut next: Next<BoxAgent>, _out| {
///                 Ok(next.invoke(scope, prompt))
///             }))
///         },
///         LayerOptions::new().invokes_again(),
///     ),
/// ];
/// suite::matrix(table).await.assert();
/// # }
/// ```
///
/// # Panics
///
/// If tokio's clock is not paused.
pub async fn matrix<F>(table: &[(&str, F, LayerOptions)]) -> Report
where
    F: Fn() -> AnyLayer,
{
    let mut report = Report::default();
    for (outer, make_outer, outer_options) in table {
        for (inner, make_inner, inner_options) in table {
            let stack = || pair(make_outer(), make_inner());
            let found = layer(stack, outer_options.and(*inner_options)).await;
            report.merge(found.named(&format!("{outer} around {inner}")));
        }
    }
    report
}
