use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use portcullis_a2a::server::push::{Deliver, Delivery, DeliveryFuture, Outcome};
use tokio::time::sleep;

use super::{Dice, book::Book};

/// A receiver of webhooks that is often out of order.
#[derive(Clone)]
pub(crate) struct Receiver {
    book: Arc<Book>,
    unit: Duration,
    dice: Arc<Mutex<Dice>>,
    posted: Arc<Mutex<BTreeMap<String, Vec<Posted>>>>,
}

/// One attempt that a receiver has read.
#[derive(Clone, Debug)]
pub(crate) struct Posted {
    pub(crate) at: u64,
    /// `task/webhook/place`
    pub(crate) id: String,
    pub(crate) body: String,
}

impl Receiver {
    pub(crate) fn new(book: Arc<Book>, unit: Duration, dice: Dice) -> Self {
        Self {
            book,
            unit,
            dice: Arc::new(Mutex::new(dice)),
            posted: Arc::default(),
        }
    }

    /// What has come for each address.
    pub(crate) fn posted(&self) -> BTreeMap<String, Vec<Posted>> {
        self.posted.lock().expect("not poisoned").clone()
    }
}

impl Deliver for Receiver {
    fn deliver(&self, delivery: Delivery) -> DeliveryFuture {
        let this = self.clone();
        let (roll, units) = {
            let mut dice = this.dice.lock().expect("not poisoned");
            (dice.below(20), dice.between(1, 3))
        };
        Box::pin(async move {
            match roll {
                0 => return Outcome::of_status(503, None),
                1 => return Outcome::of_status(429, Some(this.unit)),
                2 => return Outcome::Unreachable("no route".into()),
                3 => panic!("the client panics"),
                4 => std::future::pending().await,
                5 | 6 => sleep(this.unit * units).await,
                _ => {}
            }
            let mut posted = this.posted.lock().expect("not poisoned");
            let of_address = posted.entry(delivery.url().to_owned()).or_default();
            of_address.push(Posted {
                at: this.book.tick(),
                id: delivery.id().to_owned(),
                body: delivery.body().to_string(),
            });
            // It has come, but nobody hears of that.
            if roll == 7 {
                return Outcome::Unreachable("cut".into());
            }
            Outcome::Delivered
        })
    }
}
