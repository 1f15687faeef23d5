//! Money is added up exactly.

use portcullis::{Cost, Usage, UsageTally};
use proptest::prelude::*;

fn cost(amount: &str, currency: &str) -> Cost {
    Cost::new(amount, currency).expect("a decimal number")
}

#[test]
fn sums_are_exact() {
    for (one, other, sum) in [
        ("0.1", "0.2", "0.3"),
        ("0.99", "0.01", "1.00"),
        ("9", "1", "10"),
        (
            "1",
            "0.0000000000000000000000000000000001",
            "1.0000000000000000000000000000000001",
        ),
        (
            "99999999999999999999999999999999999",
            "0.5",
            "99999999999999999999999999999999999.5",
        ),
        ("999.95", "0.05", "1000.00"),
    ] {
        for (one, other) in [(one, other), (other, one)] {
            let added = cost(one, "EUR").plus(&cost(other, "EUR"));
            assert_eq!(added.expect("one currency").amount(), sum);
        }
    }
    assert_eq!(cost("1", "EUR").plus(&cost("1", "USD")), None);
}

#[test]
fn a_turn_costs_one_sum_a_currency() {
    let mut tally = UsageTally::new();
    assert_eq!(tally.costs(), []);
    tally.record(&Usage::new("unpriced").with_input(9));
    assert_eq!(tally.costs(), []);
    tally.record(&Usage::new("a").with_cost(cost("9", "USD")));
    // A later record of the same call replaces the earlier one.
    tally.record(&Usage::new("a").with_cost(cost("0.1", "USD")));
    tally.record(&Usage::new("b").with_cost(cost("3", "EUR")));
    tally.record(&Usage::new("c").with_cost(cost("0.25", "USD")));
    assert_eq!(tally.costs(), [cost("0.35", "USD"), cost("3", "EUR")]);
}

proptest! {
    #[test]
    fn agrees_with_whole_numbers(a in 0..u64::MAX, b in 0..u64::MAX, places in 0..12_usize) {
        let amount = |value: u128| {
            let digits = format!("{value:0width$}", width = places + 1);
            let (whole, part) = digits.split_at(digits.len() - places);
            if places == 0 { whole.to_owned() } else { format!("{whole}.{part}") }
        };
        let (a, b) = (u128::from(a), u128::from(b));
        let sum = cost(&amount(a), "x").plus(&cost(&amount(b), "x")).expect("one currency");
        prop_assert_eq!(sum.amount(), amount(a + b));
    }
}
