//! Rows and grants in words, one line each. What agents and people wrote is shown escaped.

use granted_core::decision::status::use_in_words;
use granted_core::decision::{Bind, Ended, From, Grant, Identity};
use granted_core::ledger::event::What;
use granted_core::ledger::{Event, Row, Subject};
use granted_core::text::{Shown, cut};
use granted_core::time::{Relative, Stamp};
use granted_core::trust::Signature;
use granted_core::trust::event::{KeyTrusted, KeyUntrusted, ModeSet};

pub mod proof;
mod spend;

/// A row in words: number, time, kind, and what it says.
pub fn row(row: &Row) -> String {
    let agent = row.by.agent.as_ref().map(|agent| format!(" by {agent}")).unwrap_or_default();
    format!("{:>5}  {:.0}  {:<20} {}{agent}", row.seq, row.at, row.event.kind(), what(row))
}

/// What a row says.
fn what(row: &Row) -> String {
    match &row.event {
        Event::Opened(opened) => format!("book {}", opened.book),
        Event::Torn(torn) => {
            format!("{} bytes of an unfinished append moved to {}", torn.bytes, Shown(&torn.file))
        }
        Event::Accepted(body) => {
            let what: Vec<String> = body.what.iter().map(self::accepted).collect();
            format!("{}: {} ({})", body.by, what.join(", "), body.reason)
        }
        Event::Minted(minted) => {
            let grant = &minted.grant;
            format!(
                "{} {} until {:.0} by {}",
                grant.object, grant.id, grant.not_after, grant.minted_by
            )
        }
        Event::Intent(intent) => {
            let action = intent.action.as_ref().map(|a| format!("{a} ")).unwrap_or_default();
            let name = &intent.executor.name;
            format!("{} {action}through {name} [{}]", intent.object, moved(row))
        }
        Event::Result(result) | Event::LateResult(result) => {
            let ok = if result.ok { "ok" } else { "failed" };
            let from = match result.from {
                From::Executor => "says the executor",
                From::Wrapper => "says granted",
            };
            let ended = result.ended.map(|e| format!(", {}", ended(e))).unwrap_or_default();
            let receipt =
                result.receipt.as_ref().map(|r| format!(" {}", Shown(&cut(&r.to_text(), 200))));
            format!("{ok}, {from}{ended}{} [{}]", receipt.unwrap_or_default(), moved(row))
        }
        Event::Outcome(outcome) => {
            let detail = match outcome.detail.is_empty() {
                true => String::new(),
                false => format!(" -- {}", Shown(&outcome.detail)),
            };
            let (class, reason, object) = (outcome.outcome, outcome.reason, &outcome.about.object);
            format!("{class}: {reason} ({object}){detail} [{}]", moved(row))
        }
        Event::Expired(expired) => match expired.uses {
            0 => format!("unused [{}]", moved(row)),
            uses => format!("after {uses} uses [{}]", moved(row)),
        },
        Event::Resolved(resolved) => {
            let happened = if resolved.happened { "it happened" } else { "it did not happen" };
            let note = resolved.note.as_ref().map(|note| format!(" ({note})")).unwrap_or_default();
            format!("{happened}, says {}{note} [{}]", resolved.by, moved(row))
        }
        Event::Revoked(revoked) => {
            let by = revoked.by.as_ref().map(|by| format!("by {by} ")).unwrap_or_default();
            let note = revoked.note.as_ref().map(|note| format!("({note}) ")).unwrap_or_default();
            format!("{by}{note}[{}]", moved(row))
        }
        Event::KeyTrusted(KeyTrusted { key, name, signature }) => {
            format!("{} `{name}` {}{}", key.id(), key.fingerprint(), signed(signature.as_ref()))
        }
        Event::KeyUntrusted(KeyUntrusted { key, note }) => {
            let note = note.as_ref().map(|note| format!(" ({note})")).unwrap_or_default();
            format!("{key}{note}")
        }
        Event::ModeSet(ModeSet { mode, signature }) => {
            format!("{mode}{}", signed(signature.as_ref()))
        }
        event => spend::what(event, row),
    }
}

/// Which key a row says signed it.
fn signed(signature: Option<&Signature>) -> String {
    signature.map(|signature| format!(", signed with {}", signature.key)).unwrap_or_default()
}

/// What was accepted.
pub fn accepted(what: &What) -> String {
    match what {
        What::Clock { was } => format!("a clock that had been at {was:.0}"),
        What::Damage(torn) => {
            format!("{} damaged bytes moved to {}", torn.bytes, Shown(&torn.file))
        }
        What::Rollback { rows } => format!("a ledger that once had {rows} rows"),
    }
}

fn ended(ended: Ended) -> String {
    match ended {
        Ended::Exit(status) => format!("exit {status}"),
        Ended::NotStarted => "not started".into(),
        Ended::Signal(signal) => format!("signal {signal}"),
        Ended::Stopped => "stopped".into(),
        Ended::TimedOut => "timed out".into(),
    }
}

/// The id of what the row moves first.
fn moved(row: &Row) -> String {
    let id = |(subject, _): &(Subject, u64)| {
        let text = subject.as_str();
        text.split_once(':').map_or(text.to_owned(), |(_, id)| Shown(id).to_string())
    };
    row.refs.first().map(id).unwrap_or_default()
}

/// An instant as people read it: in UTC, to the second, and how far away.
pub fn time(stamp: Stamp, now: Stamp) -> String {
    format!("{stamp:.0} ({})", Relative { stamp, now })
}

/// What an executor is, in words: each thing with its label.
pub fn executor(identity: &Identity) -> Vec<(&'static str, String)> {
    let list = |texts: &[String]| {
        let texts = texts.iter().map(|text| format!("`{}`", Shown(text)));
        texts.collect::<Vec<_>>().join(" ")
    };
    let mut lines = vec![
        ("runs", list(&identity.argv)),
        ("in", format!("{}, with the path {}", Shown(&identity.cwd), Shown(&identity.path))),
    ];
    if !identity.env.is_empty() {
        lines.push(("passed", list(&identity.env)));
    }
    if let Some(confirm) = &identity.confirm {
        lines.push(("confirm", list(&confirm.argv)));
    }
    let part = |(what, part): (_, &Bind)| format!("{what} {} ({})", part.path, part.sha256);
    lines.extend(identity.parts().map(|bind| ("bound to", part(bind))));
    lines.push(("digest", identity.digest.to_string()));
    lines
}

/// A grant in words, a line for each thing that was said.
pub fn grant(grant: &Grant, now: Stamp) -> Vec<String> {
    let mut lines = vec![format!("grant      {}", grant.id)];
    let mut say = |label: &str, text: String| lines.push(format!("{label:<10} {text}"));
    say("object", grant.object.to_string());
    let names = |names: &[granted_core::text::Name]| {
        names.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
    };
    say(
        "actions",
        match grant.allowed_actions.as_slice() {
            [] => "any but those that stay human".into(),
            actions => names(actions),
        },
    );
    say("use", use_in_words(grant.decision).into());
    if let Some(executor) = &grant.executor {
        say("executor", executor.to_string());
    }
    for (label, text) in grant.executor_bound.iter().flat_map(|bound| executor(bound)) {
        say(label, text);
    }
    if let Some(agent) = &grant.agent {
        say("agent", agent.to_string());
    }
    if !grant.scope.as_str().is_empty() {
        say("scope", grant.scope.to_string());
    }
    for not in &grant.not_scope {
        say("not", not.to_string());
    }
    for bind in &grant.binds {
        say("bound to", format!("{} ({})", bind.path, bind.sha256));
    }
    if let Some(from) = grant.not_before {
        say("from", time(from, now));
    }
    say("until", time(grant.not_after, now));
    say("minted", format!("{} by {}", time(grant.minted_at, now), grant.minted_by));
    lines
}
