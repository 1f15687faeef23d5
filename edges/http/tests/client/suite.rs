use std::time::Duration;

use portcullis::conformance::suite;
use portcullis_http::{client::HttpAgent, server::TurnService};

use crate::{bridge::Served, support::*};

#[tokio::test(start_paused = true)]
async fn a_served_agent_is_an_agent() {
    for format in FORMATS {
        let make = || gate(takes_every_path(Duration::from_secs(30)), format);
        suite::agent(make, PATHS).await.assert();
    }
}

#[tokio::test(start_paused = true)]
async fn a_served_agent_is_an_agent_over_sockets() {
    let served = Served::new(TurnService::new(takes_every_path(Duration::from_millis(1))));
    for format in FORMATS {
        let make = || HttpAgent::new(served.transport(), served.url.clone()).format(format);
        suite::agent(make, PATHS).await.assert();
    }
}
