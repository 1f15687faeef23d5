use tower_layer::Layer;

use super::{LayerOptions, scenario, stack::Suite};
use crate::{
    Agent,
    conformance::{ProbeAgent, Report, clock::demand_paused, subject::Subject},
};

/// Proves a layer right: MUST 5, and everything else that a stack relies on.
///
/// `make_layer` makes the layer anew for each scenario; within one, turns share it, so
/// that what is not given back shows. Give it a limit below twenty to see it act.
///
/// A stack of two layers is a layer as well: [`pair`](crate::conformance::pair).
///
/// ```
/// use portcullis::{Flow, Outbox, AgentEvent, Turn, TurnLayer, conformance::{LayerOptions, suite}};
///
/// /// Counts words.
/// struct Words(usize);
///
/// impl Turn for Words {
///     fn on_event(&mut self, event: &mut AgentEvent, _out: &mut Outbox) -> Flow {
///         if let AgentEvent::Text(text) = event {
///             self.0 += text.delta().split_whitespace().count();
///         }
///         Flow::Forward
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() {
/// let layer = || TurnLayer::new(|_: &mut _, _: &mut _| Words(0));
/// suite::layer(layer, LayerOptions::new()).await.assert();
/// # }
/// ```
///
/// # Panics
///
/// If tokio's clock is not paused.
pub async fn layer<L>(make_layer: impl Fn() -> L, options: LayerOptions) -> Report
where
    L: Layer<ProbeAgent>,
    L::Service: Agent + Clone + 'static,
{
    demand_paused().await;
    let make = |probe: ProbeAgent| Subject::new(make_layer().layer(probe));
    let mut suite = Suite {
        make: &make,
        options,
        report: Report::default(),
    };
    for scenario in scenario::all() {
        suite.read(&scenario).await;
        suite.drop_everywhere(&scenario).await;
    }
    suite.drop_a_ready_service().await;
    suite.crowd().await;
    suite.drop_what_waits().await;
    suite.begin_after_a_terminal().await;
    suite.spend().await;
    suite.report
}
