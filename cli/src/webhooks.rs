use std::sync::Arc;

use bytes::Bytes;
use http_body_util::Full;
use portcullis_a2a::server::push::{HttpDelivery, Push, Screening, is_public_address};
use portcullis_net::{ForbiddenAddress, Guard, HttpClientBuilder, Trust};
use portcullis_sqlite::{Database, SqlitePushStore};

use crate::args::Webhooks;

/// Delivers webhooks. What the URL says is judged when one is registered, and what the name stands for
/// when it is dialled.
pub(crate) fn push(may: Webhooks, database: Option<&Database>) -> Push {
    let guard = Guard::new(move |address| may == Webhooks::Private || is_public_address(address));
    let client = HttpClientBuilder::new().build_guarded::<Full<Bytes>>(guard, Trust::public());
    let deliver = HttpDelivery::new(client).forbidden_if(|error| error.is::<ForbiddenAddress>());
    let push = Push::new(deliver).screening(match may {
        Webhooks::Public => Screening::Public,
        Webhooks::Private => Screening::Private,
    });
    match database {
        Some(database) => push.store(Arc::new(SqlitePushStore::new(database.clone()))),
        None => push,
    }
}
