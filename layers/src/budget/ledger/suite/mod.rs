//! What every [`Ledger`] keeps, as a suite of tests.
//!
//! [`ledger_suite!`](crate::ledger_suite) makes a test of each check:
//!
//! ```
//! use portcullis_layers::budget::{MemoryLedger, ledger_suite::Fixture};
//!
//! fn open(options: portcullis_layers::budget::ledger_suite::Options) -> Fixture<MemoryLedger> {
//!     let mut ledger = MemoryLedger::new();
//!     if let Some(time) = options.lease {
//!         ledger = ledger.lease(time);
//!     }
//!     if let Some(accounts) = options.max_accounts {
//!         ledger = ledger.max_accounts(accounts);
//!     }
//!     Fixture::new(ledger)
//! }
//!
//! portcullis_layers::ledger_suite!(open);
//! # fn main() {}
//! ```

mod model;

use std::{any::Any, fmt, future::poll_fn, time::Duration};

use tokio::task::JoinSet;

use super::{Account, Claim, Denied, Ledger, Reservation};
use crate::budget::{Amounts, Limits, Meter, Window};

pub use self::model::{MODEL_LEASE, Step, agrees_with_the_model};

/// What a check asks of the ledger that it is given.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Options {
    /// How long a lease is good that is not renewed. `None`: whatever is usual.
    pub lease: Option<Duration>,
    /// How many accounts there may be. `None`: whatever is usual.
    pub max_accounts: Option<usize>,
}

/// An empty ledger, and what has to live as long as it.
pub struct Fixture<L> {
    ledger: L,
    keeps: Option<Box<dyn Any + Send>>,
}

impl<L> Fixture<L> {
    /// A ledger.
    pub const fn new(ledger: L) -> Self {
        Self {
            ledger,
            keeps: None,
        }
    }

    /// The ledger.
    pub const fn ledger(&self) -> &L {
        &self.ledger
    }

    /// And the directory that it lies in, for instance.
    #[must_use]
    pub fn keeping(mut self, keeps: impl Any + Send) -> Self {
        self.keeps = Some(Box::new(keeps));
        self
    }
}

impl<L: fmt::Debug> fmt::Debug for Fixture<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fixture")
            .field("ledger", &self.ledger)
            .finish_non_exhaustive()
    }
}

/// A ledger that can be checked.
pub trait Subject:
    Ledger<Reserve: Send, Reservation: Send> + Clone + Send + Sync + 'static
{
}

impl<L> Subject for L where
    L: Ledger<Reserve: Send, Reservation: Send> + Clone + Send + Sync + 'static
{
}

/// Makes a test of each check of the suite, for a function that takes
/// [`Options`](crate::budget::ledger_suite::Options) and answers with a
/// [`Fixture`](crate::budget::ledger_suite::Fixture). Wants tokio with threads, and real time: the
/// checks that wait take about two seconds.
#[macro_export]
macro_rules! ledger_suite {
    ($open:expr) => {
        $crate::ledger_suite! { @each $open,
            refuses_what_is_not_there
            reserves_all_or_nothing
            draws_beyond_the_slice
            books_or_does_not
            replaces_what_was_charged
            gives_back_what_was_not_used
            charges_what_was_dropped
            withdraws_what_is_not_awaited
            stops_only_who_draws_more
            keeps_accounts_apart
            counts_an_account_that_is_claimed_twice
            settles_once
            counts_to_the_end_of_the_range
            charges_a_lease_that_runs_out
            keeps_a_lease_that_is_renewed
            sets_right_what_ran_out
            refills_a_window
            pays_debts_first
            saves_nothing_up
            forgets_nothing_that_counts
            never_admits_too_many
            never_draws_too_much
        }
    };
    (@each $open:expr, $($check:ident)*) => {
        $(#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
        async fn $check() {
            $crate::budget::ledger_suite::$check($open).await;
        })*
    };
}

fn calls(calls: u64) -> Amounts {
    Amounts::ZERO.with(Meter::ModelCalls, calls)
}

fn claim(id: &str, limit: u64, slice: u64) -> Claim {
    of(Account::new("suite", id), limit, slice)
}

fn of(account: Account, limit: u64, slice: u64) -> Claim {
    Claim::new(account, Limits::of(Meter::ModelCalls, limit), calls(slice))
}

async fn reserve<L: Ledger>(ledger: &L, claims: Vec<Claim>) -> Option<L::Reservation> {
    match ledger.reserve(claims).await {
        Ok(reservation) => Some(reservation),
        Err(Denied::Exceeded(_)) => None,
        Err(Denied::Unavailable(error)) => panic!("the ledger is unavailable: {error}"),
    }
}

async fn reserved<L: Ledger>(ledger: &L, claim: Claim) -> L::Reservation {
    let reservation = reserve(ledger, vec![claim]).await;
    reservation.expect("there is enough")
}

async fn settle<R: Reservation>(mut reservation: R, used: u64) {
    let used = calls(used);
    poll_fn(|cx| reservation.poll_settle(&used, cx)).await;
    reservation.settle(&used);
}

/// How much of an account is left: the most that can be reserved.
async fn left<L: Ledger>(ledger: &L, account: Account, limit: u64) -> u64 {
    // Nothing comes back of what is not used, so the search leaves no trace.
    let (mut fits, mut too_much) = (0, limit + 1);
    while too_much - fits > 1 {
        let probe = fits + (too_much - fits) / 2;
        match reserve(ledger, vec![of(account.clone(), limit, probe)]).await {
            Some(reservation) => {
                settle(reservation, 0).await;
                fits = probe;
            }
            None => too_much = probe,
        }
    }
    fits
}

async fn left_of<L: Ledger>(ledger: &L, id: &str, limit: u64) -> u64 {
    left(ledger, Account::new("suite", id), limit).await
}

macro_rules! checks {
    ($($(#[$doc:meta])* async fn $name:ident($ledger:ident: $options:expr) $body:block)*) => {
        $($(#[$doc])*
        ///
        /// # Panics
        ///
        /// Where the ledger breaks this promise.
        pub async fn $name<L: Subject>(open: impl FnOnce(Options) -> Fixture<L>) {
            let fixture = open($options);
            let $ledger = &fixture.ledger;
            $body
            drop(fixture);
        })*
    };
}

const USUAL: Options = Options {
    lease: None,
    max_accounts: None,
};

const SHORT: Options = Options {
    lease: Some(Duration::from_millis(150)),
    max_accounts: None,
};

async fn pause(millis: u64) {
    tokio::time::sleep(Duration::from_millis(millis)).await;
}

checks! {
    /// What is reserved or used cannot be reserved again, and zero is a limit.
    async fn refuses_what_is_not_there(ledger: USUAL) {
        let zero = reserve(ledger, vec![claim("zero", 0, 1)]).await;
        assert!(zero.is_none(), "a limit of zero is a limit");
        let all = reserved(ledger, claim("full", 2, 2)).await;
        let more = reserve(ledger, vec![claim("full", 2, 1)]).await;
        assert!(more.is_none(), "what is reserved cannot be reserved again");
        all.settle(&calls(2));
        let more = reserve(ledger, vec![claim("full", 2, 1)]).await;
        assert!(more.is_none(), "what is used cannot be reserved again");
    }

    /// Of several claims all are reserved, or none is.
    async fn reserves_all_or_nothing(ledger: USUAL) {
        let claims = vec![claim("both-a", 5, 1), claim("both-b", 0, 1)];
        assert!(reserve(ledger, claims).await.is_none(), "one claim is refused");
        assert_eq!(left_of(ledger, "both-a", 5).await, 5, "then the other reserves nothing");
    }

    /// A turn draws on what is left, and what is too much is booked all the same.
    async fn draws_beyond_the_slice(ledger: USUAL) {
        let mut turn = reserved(ledger, claim("draw", 3, 1)).await;
        turn.charge(&calls(3)).expect("up to the limit");
        let other = reserve(ledger, vec![claim("draw", 3, 1)]).await;
        assert!(other.is_none(), "what is drawn is gone for others while the turn runs");
        let over = turn.charge(&calls(4)).expect_err("over the limit");
        assert_eq!((over.meter(), over.limit()), (Meter::ModelCalls, 3));
        assert_eq!(turn.used(0).of(Meter::ModelCalls), 4, "it is booked all the same");
        turn.settle(&calls(4));
    }

    /// `try_charge` books nothing where it is too much.
    async fn books_or_does_not(ledger: USUAL) {
        let mut turn = reserved(ledger, claim("try", 2, 1)).await;
        turn.try_charge(&calls(2)).expect("up to the limit");
        turn.try_charge(&calls(3)).expect_err("over the limit");
        assert_eq!(turn.used(0).of(Meter::ModelCalls), 2, "nothing was booked");
        turn.settle(&calls(2));
        assert_eq!(left_of(ledger, "try", 2).await, 0);
    }

    /// Charges are totals, and the settlement is what counts.
    async fn replaces_what_was_charged(ledger: USUAL) {
        let mut turn = reserved(ledger, claim("replace", 9, 1)).await;
        for used in [2, 5, 3, 3] {
            turn.charge(&calls(used)).expect("within the limit");
        }
        assert_eq!(turn.used(0).of(Meter::ModelCalls), 3, "totals, not sums");
        turn.settle(&calls(4));
        assert_eq!(left_of(ledger, "replace", 9).await, 5, "the settlement is what counts");
    }

    /// What was reserved and not used is free again.
    async fn gives_back_what_was_not_used(ledger: USUAL) {
        let turn = reserved(ledger, claim("back", 4, 4)).await;
        turn.settle(&calls(1));
        assert_eq!(left_of(ledger, "back", 4).await, 3, "the rest is free again");
    }

    /// A reservation that nobody settles costs what it held.
    async fn charges_what_was_dropped(ledger: USUAL) {
        drop(reserved(ledger, claim("dropped", 4, 3)).await);
        assert_eq!(left_of(ledger, "dropped", 4).await, 1, "a loop of crashes is not free");
        let mut turn = reserved(ledger, claim("drawn", 9, 1)).await;
        turn.charge(&calls(5)).expect("there is enough");
        drop(turn);
        assert_eq!(left_of(ledger, "drawn", 9).await, 4, "what was used, if that is more");
    }

    /// A request that nobody waits for leaves nothing behind, wherever it is dropped.
    async fn withdraws_what_is_not_awaited(ledger: USUAL) {
        for polls in 0..3 {
            let mut request = Box::pin(ledger.reserve(vec![claim("withdrawn", 4, 3)]));
            for _ in 0..polls {
                let polled = poll_fn(|cx| {
                    std::task::Poll::Ready(request.as_mut().poll(cx))
                });
                if let std::task::Poll::Ready(granted) = polled.await {
                    granted.expect("there is enough").settle(&Amounts::ZERO);
                    break;
                }
            }
            drop(request);
            assert_eq!(left_of(ledger, "withdrawn", 4).await, 4, "dropped after {polls} polls");
        }
    }

    /// Who finds that another has used too much is not the one who is stopped.
    async fn stops_only_who_draws_more(ledger: USUAL) {
        let mut modest = reserved(ledger, claim("two", 3, 1)).await;
        let mut greedy = reserved(ledger, claim("two", 3, 1)).await;
        greedy.charge(&calls(3)).expect_err("one of the three is reserved");
        modest.charge(&calls(1)).expect("what it reserved is its own");
        modest.settle(&calls(1));
        greedy.settle(&calls(3));
    }

    /// Accounts of other names, windows and currencies are other accounts.
    async fn keeps_accounts_apart(ledger: USUAL) {
        let mine = Account::new("suite", "mine");
        let turn = reserved(ledger, of(mine.clone(), 1, 1)).await;
        let others = [
            Account::new("suite", "yours"),
            Account::new("other", "mine"),
            mine.clone().per(Window::DAY),
            mine.clone().in_currency(crate::budget::Currency::EUR),
        ];
        for other in &others {
            assert_eq!(left(ledger, other.clone(), 1).await, 1, "{other:?}");
        }
        settle(turn, 1).await;
        for other in others {
            assert_eq!(left(ledger, other.clone(), 1).await, 1, "{other:?}");
        }
        assert_eq!(left(ledger, mine, 1).await, 0);
    }

    /// Two claims of one turn on one account are two.
    async fn counts_an_account_that_is_claimed_twice(ledger: USUAL) {
        let twice = vec![claim("twice", 3, 2), claim("twice", 3, 2)];
        assert!(reserve(ledger, twice).await.is_none());
        let twice = vec![claim("twice", 4, 2), claim("twice", 4, 2)];
        let turn = reserve(ledger, twice).await.expect("there is enough");
        assert_eq!(left_of(ledger, "twice", 4).await, 0);
        settle(turn, 1).await;
        assert_eq!(left_of(ledger, "twice", 4).await, 2);
    }

    /// A settlement that is told twice is booked once.
    async fn settles_once(ledger: USUAL) {
        let turn = reserved(ledger, claim("once", 9, 2)).await;
        // `settle` after `poll_settle`, and the drop after both.
        settle(turn, 3).await;
        assert_eq!(left_of(ledger, "once", 9).await, 6);
        let mut turn = reserved(ledger, claim("once", 9, 2)).await;
        let used = calls(1);
        poll_fn(|cx| turn.poll_settle(&used, cx)).await;
        // And dropped without the second.
        drop(turn);
        assert_eq!(left_of(ledger, "once", 9).await, 5);
    }

    /// The largest number is one, and no sum wraps around.
    async fn counts_to_the_end_of_the_range(ledger: USUAL) {
        let mut turn = reserved(ledger, claim("end", 5, 1)).await;
        turn.charge(&calls(u64::MAX)).expect_err("over the limit");
        settle(turn, u64::MAX).await;
        assert!(reserve(ledger, vec![claim("end", u64::MAX - 1, 1)]).await.is_none());
    }

    /// A lease that is not renewed is charged when its time is over.
    async fn charges_a_lease_that_runs_out(ledger: SHORT) {
        let account = Account::new("suite", "lease").per(Window::MINUTE);
        let turn = reserved(ledger, of(account.clone(), 600, 300)).await;
        pause(1_200).await;
        // It counts as used, so that it comes back: ten a second.
        let left = left(ledger, account, 600).await;
        assert!((305..400).contains(&left), "{left}");
        std::mem::forget(turn);
    }

    /// A turn that lives keeps its lease.
    async fn keeps_a_lease_that_is_renewed(ledger: SHORT) {
        let account = Account::new("suite", "renewed").per(Window::MINUTE);
        let mut turn = reserved(ledger, of(account.clone(), 600, 300)).await;
        let every = turn.renew_every().expect("a lease that runs out is renewed");
        assert!(every <= Duration::from_millis(75), "{every:?}");
        for _ in 0..24 {
            pause(50).await;
            turn.renew();
        }
        assert_eq!(left(ledger, account, 600).await, 300, "what is held does not come back");
        settle(turn, 0).await;
    }

    /// A turn that comes to its end after its lease ran out is charged what it used.
    async fn sets_right_what_ran_out(ledger: SHORT) {
        let late = reserved(ledger, claim("late", 9, 5)).await;
        let mut alive = reserved(ledger, claim("alive", 9, 5)).await;
        pause(400).await;
        assert_eq!(left_of(ledger, "late", 9).await, 4, "it is charged");
        settle(late, 2).await;
        assert_eq!(left_of(ledger, "late", 9).await, 7, "and set right");
        alive.charge(&calls(7)).expect("it draws as before");
        assert_eq!(left_of(ledger, "alive", 9).await, 2);
        alive.charge(&calls(10)).expect_err("and is stopped as before");
        settle(alive, 10).await;
        assert_eq!(left_of(ledger, "alive", 9).await, 0);
    }

    /// What was used of an account with a window comes back.
    async fn refills_a_window(ledger: USUAL) {
        let window = Window::new(Duration::from_millis(500)).expect("a window");
        let account = Account::new("suite", "window").per(window);
        // O-B16: twice, with two windows between.
        for _ in 0..2 {
            let turn = reserved(ledger, of(account.clone(), 4, 4)).await;
            settle(turn, 4).await;
            assert!(reserve(ledger, vec![of(account.clone(), 4, 4)]).await.is_none());
            pause(1_000).await;
        }
        assert_eq!(left(ledger, account, 4).await, 4);
    }

    /// What was used beyond the limit is paid back before there is anything to reserve.
    async fn pays_debts_first(ledger: USUAL) {
        let window = Window::new(Duration::from_millis(400)).expect("a window");
        let account = Account::new("suite", "debt").per(window);
        let mut turn = reserved(ledger, of(account.clone(), 4, 1)).await;
        turn.charge(&calls(12)).expect_err("over the limit");
        settle(turn, 12).await;
        pause(500).await;
        // Five of twelve are back, so eight of four are owed.
        assert!(reserve(ledger, vec![of(account.clone(), 4, 1)]).await.is_none());
        let refused = ledger.reserve(vec![of(account.clone(), 4, 1)]).await;
        assert!(matches!(refused, Err(Denied::Exceeded(_))));
        pause(1_000).await;
        assert_eq!(left(ledger, account, 4).await, 4);
    }

    /// An account that is not used for many windows has one window's worth.
    async fn saves_nothing_up(ledger: USUAL) {
        let window = Window::new(Duration::from_millis(20)).expect("a window");
        let account = Account::new("suite", "saved").per(window);
        settle(reserved(ledger, of(account.clone(), 3, 1)).await, 1).await;
        pause(300).await;
        let too_much = reserve(ledger, vec![of(account, 3, 4)]).await;
        assert!(too_much.is_none());
    }

    /// O-B08: with more accounts than there is room for, none begins anew.
    async fn forgets_nothing_that_counts(ledger: Options { max_accounts: Some(50), ..USUAL }) {
        let day = |id: &str| Account::new("suite", id).per(Window::DAY);
        settle(reserved(ledger, claim("spent", 1, 1)).await, 1).await;
        settle(reserved(ledger, of(day("spent"), 1, 1)).await, 1).await;
        let (mut admitted, mut refused) = (0, 0);
        for stranger in 0..200 {
            let id = format!("stranger-{stranger}");
            match ledger.reserve(vec![of(day(&id), 1, 1)]).await {
                Ok(turn) => {
                    settle(turn, 1).await;
                    admitted += 1;
                }
                Err(Denied::Unavailable(_)) => refused += 1,
                Err(Denied::Exceeded(exceeded)) => panic!("a new account: {exceeded}"),
            }
        }
        assert_eq!((admitted, refused), (48, 152), "there is room for 50");
        for account in [Account::new("suite", "spent"), day("spent"), day("stranger-0")] {
            let again = ledger.reserve(vec![of(account, 1, 1)]).await;
            assert!(matches!(again, Err(Denied::Exceeded(_))), "a limit begins anew");
        }
    }

    /// O-B01: turns at once, of which so many are admitted as there is room for.
    async fn never_admits_too_many(ledger: USUAL) {
        for round in 0..20 {
            let id = format!("race-{round}");
            let mut turns = JoinSet::new();
            for _ in 0..50 {
                let (ledger, id) = (ledger.clone(), id.clone());
                turns.spawn(async move {
                    let turn = reserve(&ledger, vec![claim(&id, 10, 1)]).await?;
                    tokio::task::yield_now().await;
                    turn.settle(&calls(1));
                    Some(())
                });
            }
            let admitted = turns.join_all().await.into_iter().flatten().count();
            assert_eq!(admitted, 10, "exactly as many as there is room for");
        }
    }

    /// O-B01: a thousand turns at once that draw more than they reserved, and stop where they
    /// are told to. The cap holds, and the account has what they used.
    async fn never_draws_too_much(ledger: USUAL) {
        let mut turns = JoinSet::new();
        for number in 0..1_000_u64 {
            let ledger = ledger.clone();
            turns.spawn(async move {
                let Some(mut turn) = reserve(&ledger, vec![claim("cap", 3_000, 1)]).await else {
                    return 0;
                };
                let mut used = 0;
                while used < 2 + number % 7 && turn.try_charge(&calls(used + 1)).is_ok() {
                    used += 1;
                    tokio::task::yield_now().await;
                }
                match number % 3 {
                    0 => settle(turn, used).await,
                    1 => turn.settle(&calls(used)),
                    // What it reserved, or used if that is more.
                    _ => {
                        drop(turn);
                        used = used.max(1);
                    }
                }
                used
            });
        }
        let used: u64 = turns.join_all().await.into_iter().sum();
        assert!((2_900..=3_000).contains(&used), "{used}");
        assert_eq!(left_of(ledger, "cap", 3_000).await, 3_000 - used);
    }
}
