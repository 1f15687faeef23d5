//! The card of an agent: what it says, whether that can be served, and who has signed it.

mod keys;
mod show;

use std::{
    fs,
    io::{self, Write},
    path::Path,
    process::ExitCode,
};

use portcullis_a2a::{
    client::Cards,
    model::{AgentCard, decode_response},
    signing::{TrustedKeys, verify_card},
};

use crate::{
    args::CardArgs,
    call::{address, complain, http_client, key_of_environment},
    complaint::Complaint,
    exit::{INTERRUPTED, READER_GONE},
    stop::Stop,
};

/// The largest file that is read as a card, as over the wire.
const LARGEST: u64 = 1 << 20;

/// Prints a card and what is wrong with it; Ctrl-C ends it.
pub(crate) async fn run(args: CardArgs) -> Result<ExitCode, Complaint> {
    let stop = Stop::on_signals();
    tokio::select! {
        done = carry_out(&args) => done,
        () = stop.asked() => Ok(ExitCode::from(INTERRUPTED)),
    }
}

async fn carry_out(args: &CardArgs) -> Result<ExitCode, Complaint> {
    let keys = args.key.as_deref().map(keys::read).transpose()?;
    let (card, key_id) = if args.card.contains("://") {
        fetch(args, keys).await?
    } else {
        read(Path::new(&args.card), keys.as_ref())?
    };
    let faults = card.validate().err();
    let said = if args.json {
        serde_json::to_string_pretty(&card)
            .map_err(|error| Complaint::failed(format!("the card cannot be printed: {error}")))?
    } else {
        show::whole(&card, key_id.as_deref())
    };
    if writeln!(io::stdout(), "{said}").is_err() {
        return Ok(ExitCode::from(READER_GONE));
    }
    let advice = card.advice();
    let faults = faults
        .as_ref()
        .map_or(&[][..], |faults| faults.violations());
    let findings = faults
        .iter()
        .map(|fault| ("wrong: ", fault))
        .chain(advice.iter().map(|advice| ("advice: ", advice)));
    for (kind, what) in findings {
        // Beside the card, which another program may read.
        let _ = writeln!(io::stderr(), "{kind}{}", show::line(&what.to_string()));
    }
    if faults.is_empty() {
        Ok(ExitCode::SUCCESS)
    } else {
        Err(Complaint::failed(format!(
            "the card cannot be served: {} of its members are wrong",
            faults.len()
        )))
    }
}

async fn fetch(
    args: &CardArgs,
    keys: Option<TrustedKeys>,
) -> Result<(AgentCard, Option<String>), Complaint> {
    let url = &args.card;
    let http = http_client(address(url)?, args.ca.as_deref(), key_of_environment()?)?;
    let mut cards = Cards::new(http);
    if let Some(keys) = keys {
        cards = cards.verifying(keys);
    }
    let found = cards
        .fetch(url)
        .await
        .map_err(|error| complain(url, error))?;
    Ok((found.card().clone(), found.key_id().map(str::to_owned)))
}

fn read(file: &Path, keys: Option<&TrustedKeys>) -> Result<(AgentCard, Option<String>), Complaint> {
    let shown = file.display();
    let unreadable = |error| Complaint::unreachable(format!("cannot read {shown}"), error);
    let metadata = fs::metadata(file).map_err(unreadable)?;
    if metadata.len() > LARGEST {
        let what = format!("{shown} is no card: it has more than {LARGEST} bytes");
        return Err(Complaint::failed(what));
    }
    let text = fs::read_to_string(file).map_err(unreadable)?;
    // Missing members are told with the rest of what is wrong.
    let card = decode_response(&text)
        .map_err(|error| Complaint::failed(format!("{shown} is no card: {error}")))?;
    let key_id = keys
        .map(|keys| verify_card(&text, keys))
        .transpose()
        .map_err(|error| Complaint::failed(format!("{shown} is not to be believed: {error}")))?;
    Ok((card, key_id.map(|verified| verified.key_id().to_owned())))
}
