//! The ladder, rung by rung.

use granted_core::spend::{
    Address, Deny, Draw, GrantState, Mode, Sats, SpendGrant, Verdict, ladder,
};
use granted_core::time::Stamp;
use granted_testkit::{sample, spends};

fn grant() -> SpendGrant {
    spends::grant(sample::id(0), 1, sample::now())
}

fn sats(number: u64) -> Sats {
    Sats::new(number).unwrap()
}

fn address(text: &str) -> Address {
    text.parse().unwrap()
}

/// Budget 50,000, at most 10,000 at once and 1,000 for a fee, for `tb1pada` only.
fn state() -> GrantState {
    let grant = SpendGrant {
        allowed_recipients: Some(vec![address("tb1pada")]),
        max_tx_sat: Some(sats(10_000)),
        ..grant()
    };
    GrantState::granted(2, &grant)
}

fn before_expiry() -> Stamp {
    Stamp::from_micros(grant().expires_at.micros() - 1)
}

fn reason(state: &GrantState, to: &str, amount: u64, fee: u64, now: Stamp) -> &'static str {
    match ladder(state, &address(to), sats(amount), sats(fee), now) {
        Verdict::Ask => "ask",
        Verdict::Deny(deny) => {
            let row = serde_json::to_string(&deny).unwrap();
            assert_eq!(serde_json::from_str::<Deny>(&row).unwrap(), deny);
            let value: serde_json::Value = serde_json::from_str(&row).unwrap();
            assert_eq!(serde_json_canonicalizer::to_string(&value).unwrap(), row);
            deny.reason()
        }
    }
}

/// Each rung alone, from a payment that breaks all rungs to one that breaks none.
#[test]
fn the_first_rung_that_fails_answers() {
    let (over, max) = (grant().expires_at, Sats::MAX.to_u64());
    let observing = GrantState { mode: Mode::Observe, ..state() };
    assert_eq!(reason(&observing, "tb1pbob", max, 1_001, over), "expired");
    let now = before_expiry();
    assert_eq!(reason(&observing, "tb1pbob", max, 1_001, now), "observe_only");
    assert_eq!(reason(&state(), "tb1pbob", max, 1_001, now), "amount_overflow");
    assert_eq!(reason(&state(), "tb1pbob", 60_000, 1_001, now), "recipient_not_allowed");
    assert_eq!(reason(&state(), "tb1pada", 60_000, 1_001, now), "over_max_tx");
    let uncapped = |mut state: GrantState| {
        state.grant.max_tx_sat = None;
        state
    };
    assert_eq!(reason(&uncapped(state()), "tb1pada", 60_000, 1_001, now), "over_max_fee");
    assert_eq!(reason(&uncapped(state()), "tb1pada", 60_000, 1_000, now), "over_budget");
    assert_eq!(reason(&uncapped(state()), "tb1pada", 49_000, 1_000, now), "ask");
    assert_eq!(reason(&state(), "tb1pada", 0, 0, now), "ask");
}

#[test]
fn caps_are_inclusive_and_the_last_instant_is_not() {
    let now = before_expiry();
    for (amount, fee, answer) in
        [(10_000, 1_000, "ask"), (10_001, 0, "over_max_tx"), (10_000, 1_001, "over_max_fee")]
    {
        assert_eq!(reason(&state(), "tb1pada", amount, fee, now), answer);
    }
    let over = grant().expires_at;
    assert_eq!(reason(&state(), "tb1pada", 1, 0, over), "expired");
    assert_eq!(reason(&state(), "tb1pada", 1, 0, before_expiry()), "ask");
}

/// The largest amount alone is one, and above the caps; only a fee makes it none.
#[test]
fn only_a_fee_makes_the_largest_amount_overflow() {
    let (now, max) = (before_expiry(), Sats::MAX.to_u64());
    assert_eq!(reason(&state(), "tb1pada", max, 0, now), "over_max_tx");
    assert_eq!(reason(&state(), "tb1pada", max, 1, now), "amount_overflow");
    let mut uncapped = state();
    uncapped.grant.max_tx_sat = None;
    assert_eq!(reason(&uncapped, "tb1pada", max, 0, now), "over_budget");
}

#[test]
fn an_empty_list_is_nobody_and_none_is_anybody() {
    let now = before_expiry();
    let listed = |recipients| GrantState { recipients, ..state() };
    assert_eq!(reason(&listed(None), "tb1pbob", 1, 0, now), "ask");
    assert_eq!(reason(&listed(Some(vec![])), "tb1pada", 1, 0, now), "recipient_not_allowed");
    // Exactly as it is spelt.
    assert_eq!(reason(&state(), "TB1PADA", 1, 0, now), "recipient_not_allowed");
}

#[test]
fn draws_leave_less() {
    let request = "r-d52d4883b78b7f137386c7e97e25bc9b".parse().unwrap();
    let draw = |amount, fee| Draw { request, amount: sats(amount), fee: sats(fee) };
    let state = GrantState { draws: vec![draw(40_000, 500), draw(1_000, 500)], ..state() };
    assert_eq!((state.spent(), state.remaining()), (sats(42_000), sats(8_000)));
    assert_eq!(state.tx_count(), 2);
    let now = before_expiry();
    assert_eq!(reason(&state, "tb1pada", 7_500, 500, now), "ask");
    assert_eq!(reason(&state, "tb1pada", 7_501, 500, now), "over_budget");
}

#[test]
fn a_denial_without_what_belongs_to_it_is_none() {
    for bad in [
        r#"{"reason":"expired"}"#,
        r#"{"reason":"over_max_tx","max_tx_sat":1}"#,
        r#"{"reason":"other"}"#,
        r#"{"reason":"revoked","also":1}"#,
    ] {
        assert!(serde_json::from_str::<Deny>(bad).is_err(), "{bad}");
    }
}

#[test]
fn details_are_for_people() {
    let deny = Deny::OverMaxTx { requested_sat: sats(20_000), max_tx_sat: sats(10_000) };
    assert_eq!(deny.detail(), "requested 20,000 sat; max tx 10,000 sat");
}
