use std::{path::Path, time::Duration};

use portcullis::BoxAgent;
use portcullis_http::client::HttpAgent;

use crate::{
    call::{address, http_client, key_of_environment},
    complaint::Complaint,
};

/// For how long a turn is taken up again whose connection to the upstream was cut.
const RESUMING: Duration = Duration::from_secs(30);

/// The agent that somebody serves over the plain edge at this address. The key of the environment goes
/// there and nowhere else.
pub(crate) fn agent(url: &str, authorities: Option<&Path>) -> Result<BoxAgent, Complaint> {
    let url = address(url)?;
    let http = http_client(url.clone(), authorities, key_of_environment()?)?;
    Ok(BoxAgent::new(HttpAgent::new(http, url).resuming(RESUMING)))
}
