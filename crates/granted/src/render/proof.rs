//! What a proof shows and does not show, in words.

use granted_core::decision::Attempt;
use granted_core::decision::fold::ClaimState;
use granted_core::proof::Proven;
use granted_core::text::Shown;
use granted_core::time::Stamp;
use granted_core::trust::{Mode, PublicKey, Trusted};

use super::{ended, grant};

/// What it shows, a line for each thing. `keys` are those that the reader named.
pub fn shown(proven: &Proven, keys: &[PublicKey], now: Stamp) -> Vec<String> {
    let mut lines = grant(&proven.grant.grant, now);
    let mut say = |label: &str, text: String| lines.push(format!("{label:<10} {text}"));
    for key in keys {
        say("signed", format!("with {}, the key that you named", key.fingerprint()));
    }
    for Trusted { key, name, since, .. } in &proven.signers {
        let fingerprint = key.fingerprint();
        say(
            "signed",
            format!("with {fingerprint}, `{name}`, which the book trusts since {since:.0}"),
        );
    }
    if proven.signers.is_empty() && keys.is_empty() {
        let why = match proven.mode {
            Mode::Open => "by no key that the book trusted; it asked for no signature",
            Mode::Signed => "by no key that the book trusted",
        };
        say("signed", why.into());
    }
    for (claim, ran) in proven.grant.claims.iter().zip(&proven.attempts) {
        attempt(claim, ran).into_iter().for_each(|(label, text)| say(label, text));
    }
    if proven.attempts.is_empty() {
        say("attempt", "none claimed it".into());
    }
    say("over", over(proven));
    lines
}

/// What an attempt did.
fn attempt(claim: &ClaimState, attempt: &Attempt) -> Vec<(&'static str, String)> {
    let body = &claim.intent.body;
    let action = body.action.as_ref().map(|action| format!(" for {action}")).unwrap_or_default();
    let agent = claim.by.agent.as_ref().map(|agent| format!(" by {agent}")).unwrap_or_default();
    let digest = match &body.executor.digest {
        Some(digest) => format!("digest {digest}"),
        None => "a closure".into(),
    };
    let (id, at, name) = (claim.discharge, claim.intent.at, &body.executor.name);
    let began = format!("{id} began {at:.0}{action}{agent}, through {name} ({digest})");
    let mut lines = vec![("attempt", began)];
    if let Some(result) = attempt.wrapper_result.as_ref().and_then(|result| result.body.ended) {
        lines.push(("ran", format!("its executor ended: {}", ended(result))));
    }
    if let Some(result) = &attempt.executor_result {
        let receipt = result.body.receipt.as_ref().map(|receipt| receipt.to_text());
        let ok = if result.body.ok { "ok" } else { "failed" };
        lines.push((
            "result",
            format!("{ok}, says the executor {}", Shown(&receipt.unwrap_or_default())),
        ));
    }
    match &attempt.outcome {
        Some(outcome) => {
            let (class, reason) = (outcome.body.outcome, outcome.body.reason);
            lines.push(("ended", format!("{:.0}: {class}: {reason}", outcome.at)));
        }
        None => lines.push(("ended", "not yet".into())),
    }
    if attempt.late.is_some() {
        lines.push(("late", "its executor came back after that".into()));
    }
    if let Some(resolved) = &attempt.resolved {
        let (at, by) = (resolved.at, &resolved.body.by);
        let happened = if resolved.body.happened { "it happened" } else { "it did not happen" };
        lines.push(("resolved", format!("{at:.0}: {happened}, says {by}")));
    }
    lines
}

/// Whether anything can still use the grant.
fn over(proven: &Proven) -> String {
    let (state, last) = (&proven.grant, proven.grant.last);
    let why = if state.running().is_some() {
        return format!("no: an attempt runs, as of row {last}");
    } else if state.spending().is_some() {
        "it is spent"
    } else if state.revoked.is_some() {
        "it was taken back"
    } else if state.expired.is_some() && state.uses() == 0 {
        "its window closed, and it was never used"
    } else if state.expired.is_some() {
        "its window closed"
    } else if state.closed.is_some() {
        "it was closed when a damaged ledger was accepted"
    } else {
        return format!("no: it may still be used, as of row {last}");
    };
    format!("yes, by row {last}: {why}")
}

/// What it does not show. `keys` are those that the reader named.
pub fn not_proven(proven: &Proven, keys: &[PublicKey]) -> Vec<String> {
    let mut lines = Vec::new();
    let mut say = |text: &str| lines.push(text.to_owned());
    if !proven.is_over() {
        say(&format!("that nothing happened after row {}", proven.grant.last));
    }
    if proven.attempts.iter().any(|attempt| attempt.outcome.is_some()) {
        say("that no later row adds to an attempt, and that what its executor said is true");
    }
    if keys.is_empty() {
        let whose = match proven.signers.is_empty() {
            true => "who minted it: `minted by` is words, and no key signed it",
            false => "whose the key is that signed it: name the one that you know with --key",
        };
        say(whose);
    }
    say("that the times are right: they are of the clock of that machine");
    say("whose the book is: its key is that of an installation, and anybody can make one");
    say("that the book is the only one: no witness is asked");
    if !proven.signers.is_empty() {
        say("that no row before it took trust away from a key");
    }
    lines
}
