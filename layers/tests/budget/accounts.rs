//! Several limits at once, windows of time, and money.

use futures_util::StreamExt;
use portcullis::{AgentEvent, AgentExt, Cost, FailureCode, Principal, Prompt, Scope, Usage};
use portcullis_layers::budget::{
    Account, BudgetLayer, Currency, Limits, MemoryLedger, Meter, Money, MoneyError, PriceList,
    Pricing, Rates, UNPRICED, Unpriced, Window,
};
use tower::Layer;

use crate::support::*;

async fn turn<A: portcullis::Agent + Clone>(agent: &A, scope: Scope) -> Vec<AgentEvent> {
    agent.invoke(scope, Prompt::text("p")).collect().await
}

fn ann() -> Principal {
    Principal::new("user", "idp", "ann")
}

/// A turn is checked against all limits, and charged to all accounts.
#[tokio::test]
async fn all_limits_hold_at_once() {
    let tokens = |limit| Limits::of(Meter::Tokens, limit);
    let ledger = MemoryLedger::new();
    let layer = BudgetLayer::per_session(ledger.clone(), tokens(100))
        .and_per_principal(tokens(25))
        .and_per_tenant(tokens(45))
        .and_per_key(
            "model",
            |scope| scope.source().map(str::to_owned),
            tokens(65),
        )
        .and_per_turn(tokens(15))
        .no_warning();
    let agent = layer.layer(actor([used("call", 10, 0), done()]));
    let scope = |session: &str, subject: &str, tenant: &str| {
        Scope::new(session)
            .with_source("m")
            .with_tenant(tenant)
            .with_principal(Principal::new("user", "idp", subject))
    };
    let mut refused = Vec::new();
    for (session, subject, tenant) in [
        ("s1", "ann", "t"),
        ("s2", "ann", "t"),
        // A turn begins with a token left, and passes the limit of the principal by five.
        ("s3", "ann", "t"),
        ("s4", "ann", "t"),
        ("s5", "bob", "t"),
        ("s6", "bob", "t"),
        ("s7", "eve", "t"),
        ("s7", "eve", "u"),
        ("s8", "joe", "u"),
        ("s9", "kim", "u"),
    ] {
        let events = turn(&agent, scope(session, subject, tenant)).await;
        refused.push(match types(&events).as_str() {
            "usage completed" => "-",
            "usage failed" | "failed" => {
                let failure = failure(&events);
                assert!(failure.is(&FailureCode::BUDGET_EXCEEDED));
                ["principal", "tenant", "model"]
                    .into_iter()
                    .find(|kind| failure.details().contains(kind))
                    .expect("one of them")
            }
            other => panic!("{other}"),
        });
    }
    let expected = [
        "-",
        "-",
        "principal",
        "principal",
        "-",
        "tenant",
        "tenant",
        "-",
        "model",
        "model",
    ];
    assert_eq!(refused, expected);
    // What was drawn is in every account.
    let of = |account| ledger.used(&account).of(Meter::Tokens);
    let ann = scope("s1", "ann", "t");
    assert_eq!(of(Account::session(&ann)), 10);
    assert_eq!(of(Account::principal(&ann)), 30);
    assert_eq!(of(Account::tenant(&ann)), 50);
    assert_eq!(of(Account::new("model", "m")), 70);
}

/// Nobody gets more by leaving his name out, and names do not run together.
#[tokio::test]
async fn callers_without_a_name_share_an_account() {
    let ledger = MemoryLedger::new();
    let layer = BudgetLayer::per_principal(ledger, Limits::of(Meter::ModelCalls, 1)).no_warning();
    let agent = layer.layer(actor([used("call", 1, 1), done()]));
    assert_eq!(
        types(&turn(&agent, Scope::new("a")).await),
        "usage completed"
    );
    assert_eq!(types(&turn(&agent, Scope::new("b")).await), "failed");
    let named = Scope::new("b").with_principal(ann());
    assert_eq!(types(&turn(&agent, named).await), "usage completed");
    let name = |kind, issuer, subject| {
        Account::principal(&Scope::new("s").with_principal(Principal::new(kind, issuer, subject)))
    };
    assert_ne!(name("a", "b", "c"), name("ab", "", "c"));
    assert_ne!(name("a", "b", "c"), name("a", "", "bc"));
    let tenants = [("a", "b/c"), ("a/b", "c")];
    let [one, other] =
        tenants.map(|(tenant, session)| Account::session(&Scope::new(session).with_tenant(tenant)));
    assert_ne!(one, other);
}

/// O-B16: the full quota again after a window, twice; in between it comes back bit by bit, and
/// debts are paid first.
#[tokio::test(start_paused = true)]
async fn a_window_refills() {
    let ledger = MemoryLedger::new();
    let limits = Limits::of(Meter::Tokens, 600);
    let layer = BudgetLayer::per_session(ledger.clone(), limits.per(Window::MINUTE)).no_warning();
    let agent = layer.layer(actor([used("call", 600, 0), done()]));
    let account = Account::session(&Scope::new("session")).per(Window::MINUTE);
    let now_used = || ledger.used(&account).of(Meter::Tokens);
    for _ in 0..2 {
        assert_eq!(types(&events(&agent).await), "usage completed");
        let refused = events(&agent).await;
        let failure = failure(&refused);
        let spent = "the budget of the session is spent: 600 tokens per minute";
        assert_eq!(failure.details(), spent);
        // The next token is a tenth of a second away.
        assert_eq!(failure.after(), Some(std::time::Duration::from_millis(100)));
        assert!(!failure.is_retryable());
        tokio::time::advance(secs(15)).await;
        assert_eq!(now_used(), 450);
        tokio::time::advance(secs(105)).await;
        assert_eq!(now_used(), 0);
    }
    assert_eq!(ledger.accounts(), 1);
    // A debt: 1,800 of 600. Two minutes pay what is too much, and the third gives it back.
    let greedy = layer.layer(actor([used("call", 1_800, 0), done()]));
    assert_eq!(types(&events(&greedy).await), "usage failed");
    tokio::time::advance(secs(119)).await;
    assert_eq!(types(&events(&agent).await), "failed");
    tokio::time::advance(secs(2)).await;
    assert_eq!(now_used(), 590);
    // Exact over many small steps, and no credit is saved up.
    for _ in 0..5_900 {
        tokio::time::advance(std::time::Duration::from_micros(10_007)).await;
        now_used();
    }
    assert_eq!(
        now_used(),
        590 - (1_000 + 5_900 * 10_007 / 1_000 - 1_000) / 100
    );
    tokio::time::advance(secs(86_400)).await;
    assert_eq!(types(&events(&greedy).await), "usage failed");
}

/// Hour and day of one principal are two limits, and both hold.
#[tokio::test(start_paused = true)]
async fn windows_of_several_lengths() {
    let calls = |limit| Limits::of(Meter::ModelCalls, limit);
    let layer = BudgetLayer::per_session(MemoryLedger::new(), calls(2).per(Window::HOUR))
        .and_per_session(calls(3).per(Window::DAY))
        .and_per_session(calls(5))
        .no_warning();
    let agent = layer.layer(actor([used("call", 1, 1), done()]));
    let mut ends = String::new();
    for _ in 0..8 {
        for _ in 0..3 {
            ends.push_str(match types(&events(&agent).await).as_str() {
                "usage completed" => "+",
                _ => "-",
            });
        }
        tokio::time::advance(secs(3 * 3600)).await;
        ends.push(' ');
    }
    // Two an hour; three a day, so that one comes back in eight hours; five in all.
    assert_eq!(ends, "++- +-- --- +-- --- --- +-- --- ");
    tokio::time::advance(secs(100 * 86_400)).await;
    let refused = events(&agent).await;
    assert_eq!(
        failure(&refused).details(),
        "the budget of the session is spent: 5 model calls"
    );
    assert_eq!(failure(&refused).after(), None);
}

/// Money: from the record, by a list, in one currency.
#[tokio::test]
async fn money_is_counted_in_whole_numbers() {
    let priced = |id: &str, amount: &str, currency: &str| {
        Do::Say(
            Usage::new(id)
                .with_cost(Cost::new(amount, currency).unwrap())
                .into(),
        )
    };
    let dollar = Limits::of(Meter::Money, 1_000_000_000);
    let ledger = MemoryLedger::new();
    let layer = BudgetLayer::per_session(ledger.clone(), dollar).no_warning();
    let account = Account::session(&Scope::new("session")).in_currency(Currency::USD);
    let money = || ledger.used(&account).of(Meter::Money);
    // Floats would make 0.30000000000000004 of it.
    let part = [priced("1", "0.1", "USD"), priced("2", "0.2", "USD"), done()];
    assert_eq!(
        types(&events(&layer.layer(actor(part))).await),
        "usage usage completed"
    );
    assert_eq!(money(), 300_000_000);
    // Replaced by id, never added up; what lies beyond the ninth place costs one more.
    let part = [
        priced("1", "9.5", "USD"),
        priced("1", "0.5000000001", "USD"),
        done(),
    ];
    let events_ = events(&layer.clone().layer(actor(part[1..].to_vec()))).await;
    assert_eq!(types(&events_), "usage completed");
    assert_eq!(money(), 800_000_001);
    let cut = events(&layer.layer(actor(part))).await;
    assert_eq!(types(&cut), "usage failed");
    assert!(failure(&cut).is(&FailureCode::BUDGET_EXCEEDED));
}

#[tokio::test]
async fn no_price_is_a_policy() {
    let dollar = Limits::of(Meter::Money, 1_000_000_000);
    let euros = Usage::new("1").with_cost(Cost::new("0.01", "EUR").unwrap());
    let none = Usage::new("1").with_input(3).with_output(4);
    for unpriced in [euros, none] {
        let part = vec![Do::Say(unpriced.clone().into()), say("b"), done()];
        let layer = BudgetLayer::per_turn(dollar);
        let cut = events(&layer.layer(actor(part.clone()))).await;
        assert_eq!(types(&cut), "usage failed");
        assert!(failure(&cut).is(&UNPRICED));
        let free = layer.clone().unpriced(Unpriced::Ignore);
        let whole = events(&free.layer(actor(part.clone()))).await;
        assert_eq!(types(&whole), "usage text completed");
        // The next turn is not begun, until there is a price.
        let refusing = actor(part.clone());
        let seen = std::sync::Arc::clone(&refusing.seen);
        let known = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
        let price = {
            let known = std::sync::Arc::clone(&known);
            move |_: &Usage| {
                let known = known.load(std::sync::atomic::Ordering::SeqCst);
                known.then_some(Money::from_nanos(1, Currency::USD))
            }
        };
        let layer = layer
            .unpriced(Unpriced::Refuse)
            .priced(Currency::USD, price);
        let agent = layer.layer(refusing);
        assert_eq!(types(&events(&agent).await), "usage failed");
        let refused = events(&agent).await;
        assert!(types(&refused) == "failed" && failure(&refused).is(&UNPRICED));
        assert_eq!(seen.calls(), 1);
        known.store(true, std::sync::atomic::Ordering::SeqCst);
        assert_eq!(types(&events(&agent).await), "usage text completed");
    }
    // A call that runs may still learn what it costs; without a limit nobody asks.
    let part = [
        Do::Say(Usage::new("1").with_input(1).with_final(false).into()),
        Do::Say(
            Usage::new("1")
                .with_cost(Cost::new("0.01", "USD").unwrap())
                .with_final(true)
                .into(),
        ),
        done(),
    ];
    let layer = BudgetLayer::per_turn(dollar).no_warning();
    assert_eq!(
        types(&events(&layer.layer(actor(part))).await),
        "usage usage completed"
    );
}

/// Too much to be counted is too much for every limit, and never wraps around.
#[tokio::test]
async fn more_money_than_can_be_counted() {
    let huge = "9".repeat(400);
    assert_eq!(Money::parse(&huge, Currency::EUR), Err(MoneyError::TooMuch));
    let usage = Usage::new("1").with_cost(Cost::new(huge, "USD").unwrap());
    let layer = BudgetLayer::per_turn(Limits::of(Meter::Money, u64::MAX - 1)).no_warning();
    let cut = events(&layer.layer(actor([Do::Say(usage.into()), say("b"), done()]))).await;
    assert_eq!(types(&cut), "usage failed");
    assert!(failure(&cut).is(&FailureCode::BUDGET_EXCEEDED));
    let prices = PriceList::new(Currency::USD).model(
        "m",
        Rates::per_million("18446744073.7", "18446744073.7").unwrap(),
    );
    let all = Usage::new("1")
        .with_model("m")
        .with_input(u64::MAX)
        .with_output(u64::MAX);
    assert_eq!(prices.price(&all).unwrap().nanos(), u64::MAX);
}

/// O-B11: nothing known is no price, zero is one.
#[test]
fn a_list_prices_what_it_knows() {
    let rates = Rates::per_million("2.50", "10").unwrap();
    let prices = PriceList::new(Currency::EUR).model("m", rates.cached("0.25").unwrap());
    let usage = Usage::new("1").with_model("m");
    for (usage, price) in [
        (usage.clone(), None),
        (usage.clone().with_input(0), None),
        (usage.clone().with_input(0).with_output(0), Some("0 EUR")),
        (
            usage.clone().with_input(1_000_000).with_output(0),
            Some("2.5 EUR"),
        ),
        (
            usage
                .clone()
                .with_input(1_000)
                .with_cache_read(900)
                .with_output(10),
            Some("0.000575 EUR"),
        ),
        // A cache that says more than went in changes no sign.
        (
            usage.with_input(10).with_cache_read(900).with_output(0),
            Some("0.0000025 EUR"),
        ),
    ] {
        let got = prices.price(&usage).map(|price| price.to_string());
        assert_eq!(got.as_deref(), price, "{usage:?}");
    }
    for wrong in ["", ".", "1.", ".5", "-1", "+1", "1e3", "0x1", " 1", "1,5"] {
        assert_eq!(
            Money::parse(wrong, Currency::USD),
            Err(MoneyError::Amount),
            "{wrong}"
        );
        assert!(Rates::per_million(wrong, "1").is_err(), "{wrong}");
    }
    for wrong in ["", "usd", "US", "USDT", "€"] {
        assert_eq!(
            wrong.parse::<Currency>(),
            Err(MoneyError::Currency),
            "{wrong}"
        );
    }
}
