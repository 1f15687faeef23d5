use std::time::Duration;

use super::{Account, Meter, Reservation, Subject, calls, of, reserve, settle};
use crate::budget::Window;

/// How long a lease has to be good in the ledger that is compared with the model.
pub const MODEL_LEASE: Duration = Duration::from_secs(5);

/// What is done to a ledger and to the model.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Step {
    /// Reserves a slice of an account.
    Reserve(u8, u8),
    /// Charges a lease so much in total; perhaps only if there is room.
    Charge(u8, u8, bool),
    /// Settles a lease.
    Settle(u8, u8),
    /// Drops a lease.
    Drop(u8),
    /// Renews a lease.
    Renew(u8),
    /// Lets time pass, in units of 137 milliseconds.
    Wait(u8),
}

/// One of three numbers says what is done, and the others to what and how much.
impl From<[u8; 3]> for Step {
    fn from([what, which, amount]: [u8; 3]) -> Self {
        match what % 8 {
            0 | 1 => Self::Reserve(which, amount % 12),
            2 => Self::Charge(which, amount % 24, false),
            3 => Self::Charge(which, amount % 24, true),
            4 => Self::Settle(which, amount % 24),
            5 => Self::Drop(which),
            6 => Self::Renew(which),
            _ => Self::Wait(amount % 64),
        }
    }
}

/// Takes steps with a ledger and with a model of it, and compares after each: what is granted,
/// what is refused, and what each account has used.
///
/// The ledger's leases are good for [`MODEL_LEASE`]. Wants a clock that stands still: `advance` moves
/// it.
///
/// # Panics
///
/// Where they differ.
pub async fn agrees_with_the_model<L: Subject>(
    ledger: &L,
    advance: impl AsyncFn(Duration),
    steps: &[Step],
) {
    let mut model = Model::new();
    let mut leases: Vec<(L::Reservation, Lease)> = Vec::new();
    for (number, step) in steps.iter().enumerate() {
        let pick = |which: u8| (!leases.is_empty()).then(|| usize::from(which) % leases.len());
        match *step {
            Step::Reserve(which, slice) => {
                let place = usize::from(which) % model.accounts.len();
                let account = &model.accounts[place];
                let claim = of(account.name.clone(), account.limit, slice.into());
                let granted = reserve(ledger, vec![claim]).await;
                let expected = model.reserve(place, slice.into());
                assert_eq!(
                    granted.is_some(),
                    expected.is_some(),
                    "step {number}: {step:?}"
                );
                leases.extend(granted.zip(expected));
            }
            Step::Charge(which, used, only_if) => {
                let Some(place) = pick(which) else { continue };
                let (reservation, lease) = &mut leases[place];
                let charged = if only_if {
                    reservation.try_charge(&calls(used.into()))
                } else {
                    reservation.charge(&calls(used.into()))
                };
                let expected = model.charge(lease, used.into(), only_if);
                assert_eq!(charged.is_ok(), expected, "step {number}: {step:?}");
            }
            Step::Settle(which, used) => {
                let Some(place) = pick(which) else { continue };
                let (reservation, lease) = leases.swap_remove(place);
                if used % 2 == 0 {
                    settle(reservation, used.into()).await;
                } else {
                    reservation.settle(&calls(used.into()));
                }
                model.settle(&lease, Some(used.into()));
            }
            Step::Drop(which) => {
                let Some(place) = pick(which) else { continue };
                let (reservation, lease) = leases.swap_remove(place);
                drop(reservation);
                model.settle(&lease, None);
            }
            Step::Renew(which) => {
                let Some(place) = pick(which) else { continue };
                let (reservation, lease) = &mut leases[place];
                reservation.renew();
                model.renew(lease);
            }
            Step::Wait(units) => {
                let time = Duration::from_millis(137) * units.into();
                advance(time).await;
                model.now += time.as_micros();
            }
        }
        for (reservation, lease) in &mut leases {
            let used = reservation.used(0).of(Meter::ModelCalls);
            let expected = model.used(lease.account);
            assert_eq!(
                u128::from(used),
                expected,
                "step {number}: {step:?}, {lease:?}"
            );
        }
    }
}

/// The plainest ledger there is: levels in parts of a window, and all leases in one list.
struct Model {
    accounts: Vec<ModelAccount>,
    /// The open ones: number, account, slice, used, until.
    open: Vec<(u64, usize, u128, u128, u128)>,
    next: u64,
    now: u128,
}

struct ModelAccount {
    name: Account,
    limit: u64,
    /// Microseconds; zero is for ever.
    window: u128,
    /// What was used, times the window.
    level: u128,
    at: u128,
}

#[derive(Debug)]
struct Lease {
    number: u64,
    account: usize,
    slice: u128,
    used: u128,
}

impl ModelAccount {
    fn new(limit: u64, millis: u64) -> Self {
        let name = Account::new("model", millis.to_string());
        let window = Window::new(Duration::from_millis(millis));
        Self {
            name: match window {
                Some(window) => name.per(window),
                None => name,
            },
            limit,
            window: u128::from(millis) * 1_000,
            level: 0,
            at: 0,
        }
    }

    const fn unit(&self) -> u128 {
        if self.window == 0 { 1 } else { self.window }
    }

    fn refill(&mut self, now: u128) {
        if self.window > 0 {
            let back = (now - self.at) * u128::from(self.limit);
            self.level = self.level.saturating_sub(back);
        }
        self.at = now;
    }
}

impl Model {
    fn new() -> Self {
        Self {
            accounts: vec![
                ModelAccount::new(60, 0),
                ModelAccount::new(30, 10_000),
                ModelAccount::new(7, 1_000),
                ModelAccount::new(13, 3_333),
            ],
            open: Vec::new(),
            next: 0,
            now: 0,
        }
    }

    /// Charges what has run out, the earliest first, and refills.
    fn settle_down(&mut self) {
        self.open
            .sort_by_key(|(number, .., until)| (*until, *number));
        while let Some(&(_, account, slice, used, until)) = self.open.first() {
            if until > self.now {
                break;
            }
            let account = &mut self.accounts[account];
            account.refill(until);
            account.level += slice.max(used) * account.unit();
            self.open.remove(0);
        }
        for account in &mut self.accounts {
            account.refill(self.now);
        }
    }

    fn taken(&self, place: usize) -> u128 {
        let account = &self.accounts[place];
        let open = self.open.iter().filter(|(_, of, ..)| *of == place);
        let held: u128 = open.map(|(_, _, slice, used, _)| *slice.max(used)).sum();
        account.level.div_ceil(account.unit()) + held
    }

    fn used(&mut self, place: usize) -> u128 {
        self.settle_down();
        let account = &self.accounts[place];
        let open = self.open.iter().filter(|(_, of, ..)| *of == place);
        let running: u128 = open.map(|(.., used, _)| *used).sum();
        account.level.div_ceil(account.unit()) + running
    }

    fn limit(&self, place: usize) -> u128 {
        u128::from(self.accounts[place].limit)
    }

    fn until(&self) -> u128 {
        self.now + MODEL_LEASE.as_micros()
    }

    fn reserve(&mut self, account: usize, slice: u128) -> Option<Lease> {
        self.settle_down();
        if self.taken(account) + slice > self.limit(account) {
            return None;
        }
        let number = self.next;
        self.next += 1;
        self.open.push((number, account, slice, 0, self.until()));
        Some(Lease {
            number,
            account,
            slice,
            used: 0,
        })
    }

    /// What ran out although its turn lives is taken back.
    fn revive(&mut self, lease: &Lease) {
        self.settle_down();
        if self.open.iter().all(|(number, ..)| *number != lease.number) {
            let account = &mut self.accounts[lease.account];
            let charged = lease.slice.max(lease.used) * account.unit();
            account.level = account.level.saturating_sub(charged);
            let until = self.until();
            self.open
                .push((lease.number, lease.account, lease.slice, lease.used, until));
        }
    }

    fn find(&mut self, lease: &Lease) -> usize {
        let mut open = self.open.iter();
        let place = open.position(|(number, ..)| *number == lease.number);
        place.expect("it was revived")
    }

    fn charge(&mut self, lease: &mut Lease, used: u128, only_if: bool) -> bool {
        self.revive(lease);
        let place = self.find(lease);
        let draws = lease.slice.max(used) > lease.slice.max(lease.used);
        self.open[place].3 = used;
        let fits = !draws || self.taken(lease.account) <= self.limit(lease.account);
        if !fits && only_if {
            self.open[place].3 = lease.used;
        } else {
            lease.used = used;
        }
        fits
    }

    fn renew(&mut self, lease: &Lease) {
        self.revive(lease);
        let place = self.find(lease);
        self.open[place].4 = self.until();
    }

    fn settle(&mut self, lease: &Lease, used: Option<u128>) {
        self.revive(lease);
        let place = self.find(lease);
        self.open.remove(place);
        let account = &mut self.accounts[lease.account];
        let used = used.unwrap_or(lease.slice.max(lease.used));
        account.level += used * account.unit();
    }
}
