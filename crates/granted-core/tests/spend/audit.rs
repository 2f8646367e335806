//! What `granted ledger verify` finds in the stories of spends.

use granted_core::id::Id;
use granted_core::ledger::audit::{Audit, check_subject_events};
use granted_core::ledger::event::{Accepted, Opened};
use granted_core::ledger::{Event, Line, Subject};
use granted_core::spend::event::{
    BroadcastPending, Dismissed, Failed, Filed, Granted, Listed, ModeChanged, Refund, Revoked,
    Sent, Signed, Signing, Unresolved,
};
use granted_core::spend::{Deny, IntentDigest, Mode, Network, SpendGrant};
use granted_core::store::RawLine;
use granted_core::time::Stamp;
use granted_testkit::scribe::Scribe;
use granted_testkit::spends::{drawn, filed, grant, issued, request, sats, signing, txid};

/// A row to be, and what it moves.
type Told = (Event, Vec<Subject>);

/// A book in which the grant was issued, and how long ago does not matter.
struct Tale {
    scribe: Scribe,
    book: Id,
    lines: Vec<Line>,
}

impl Tale {
    fn new() -> Tale {
        let mut scribe = Scribe::default();
        let book = scribe.id();
        let lines = vec![scribe.row(Event::Opened(Opened { book }), vec![])];
        Tale { scribe, book, lines }
    }

    fn grant(&self) -> SpendGrant {
        grant(self.book, 1, Stamp::parse("2026-09-30T08:00:00Z").unwrap())
    }

    fn tell(mut self, rows: Vec<Told>) -> Tale {
        self.lines.extend(rows.into_iter().map(|(event, moved)| self.scribe.row(event, moved)));
        self
    }

    /// What is wrong with it, and with which row, counted from the end.
    fn fault(&self) -> Option<(usize, String)> {
        let (mut audit, mut moves, mut offset) = (Audit::default(), Vec::new(), 0);
        let back = |line: u64| self.lines.len() - usize::try_from(line).unwrap();
        for line in &self.lines {
            let raw = RawLine { seq: line.seq, offset, bytes: &line.bytes };
            if let Err(fault) = audit.line(raw, |m| moves.push(m)) {
                return Some((back(fault.line), fault.cause.into_owned()));
            }
            offset += line.bytes.len() as u64 + 1;
        }
        let illegal = check_subject_events(moves).err()?;
        Some((back(illegal.line), illegal.cause.to_owned()))
    }
}

fn granted(grant: &SpendGrant) -> Told {
    (Event::SpendGranted(Granted { grant: grant.clone(), replaces: None }), issued(grant))
}

fn asks(body: &Filed) -> Told {
    (Event::SpendFiled(body.clone()), request(body))
}

fn signs(body: &Filed) -> Told {
    let now = Stamp::parse("2026-09-30T08:00:00Z").unwrap();
    (Event::SpendSigning(signing(body, now)), drawn(body))
}

fn signs_as(body: &Filed, change: impl Fn(&mut Signing)) -> Told {
    let (event, moved) = signs(body);
    let Event::SpendSigning(mut signing) = event else { unreachable!() };
    change(&mut signing);
    (Event::SpendSigning(signing), moved)
}

fn fails(body: &Filed, amount: u64) -> Told {
    let refund = Some(Refund { amount_sat: sats(amount), fee_sat: sats(200) });
    (Event::SpendFailed(Failed { message: "m".parse().unwrap(), refund }), drawn(body))
}

fn stops(body: &Filed) -> Told {
    let failed = Failed { message: "m".parse().unwrap(), refund: None };
    (Event::SpendFailed(failed), request(body))
}

fn signed(body: &Filed) -> Told {
    (Event::SpendSigned(Signed { txid: txid(1) }), request(body))
}

fn sent(body: &Filed) -> Told {
    (Event::SpendSent(Sent { txid: txid(1) }), request(body))
}

fn pends(body: &Filed) -> Told {
    let pending = BroadcastPending { message: "m".parse().unwrap(), txid: txid(1) };
    (Event::SpendBroadcastPending(pending), request(body))
}

fn unresolved(body: &Filed) -> Told {
    (Event::SpendUnresolved(Unresolved { message: "m".parse().unwrap() }), request(body))
}

fn dismissed(body: &Filed) -> Told {
    (Event::SpendDismissed(Dismissed {}), request(body))
}

fn observes(grant: &SpendGrant) -> Told {
    let event = ModeChanged { from: Mode::Ask, to: Mode::Observe };
    (Event::SpendModeChanged(event), vec![issued(grant)[0].clone()])
}

fn revoked(grant: &SpendGrant) -> Told {
    (Event::SpendRevoked(Revoked {}), issued(grant))
}

#[test]
fn legal_stories_pass() {
    let tale = Tale::new();
    let grant = tale.grant();
    let (one, two) = (filed(&grant, "one", 9_000), filed(&grant, "two", 9_000));
    let rows = vec![
        granted(&grant),
        asks(&one),
        stops(&one),
        signs(&one),
        fails(&one, 9_000),
        signs(&one),
        signed(&one),
        pends(&one),
        asks(&two),
        signs(&two),
        unresolved(&two),
        dismissed(&two),
        observes(&grant),
        revoked(&grant),
        sent(&one),
        granted(&SpendGrant { grant_id: "f".repeat(32).parse().unwrap(), ..grant }),
    ];
    assert_eq!(tale.tell(rows).fault(), None);
}

/// The last row of each story is the illegal one.
#[test]
fn illegal_rows_are_found() {
    let tale = Tale::new();
    let grant = tale.grant();
    let one = filed(&grant, "one", 9_000);
    let (dear, dust) = (filed(&grant, "dear", 10_001), filed(&grant, "dust", 0));
    let denied = Filed { deny: Some(Deny::ObserveOnly), ..filed(&grant, "no", 1) };
    let as_asked = |body: Filed| Filed {
        intent_digest: IntentDigest::new(
            body.network,
            &body.agent,
            &body.recipient,
            body.amount_sat,
        ),
        ..body
    };
    let bobs = as_asked(Filed { agent: "bob".parse().unwrap(), ..one.clone() });
    let real = as_asked(Filed { network: Network::Mainnet, ..one.clone() });
    let many: Vec<Filed> = (0..6).map(|n| filed(&grant, &format!("k{n}"), 9_000)).collect();
    let beyond = many.iter().flat_map(|body| [asks(body), signs(body)]).collect::<Vec<_>>();
    let anew = SpendGrant { grant_id: "f".repeat(32).parse().unwrap(), ..grant.clone() };
    let closed = Accepted {
        by: "ada".parse().unwrap(),
        reason: "r".parse().unwrap(),
        signature: None,
        what: vec![],
    };
    let closed = (Event::Accepted(closed), vec![issued(&grant)[0].clone()]);
    let late = |body: &Filed, grant: &SpendGrant| {
        signs_as(&Filed { grant_id: grant.grant_id.clone(), ..body.clone() }, |_| {})
    };
    let list = Listed { recipient: one.recipient.clone() };
    let list = (Event::SpendRecipientAllowed(list), vec![issued(&grant)[0].clone()]);
    let start = |rows: Vec<Told>| [vec![granted(&grant), asks(&one)], rows].concat();
    for (name, rows, cause) in [
        ("a second authorization", start(vec![signs(&one), signs(&one)]), "authorized or ended"),
        (
            "a second one after it was sent",
            start(vec![signs(&one), signed(&one), sent(&one), signs(&one)]),
            "authorized or ended",
        ),
        (
            "one after it was unresolved",
            start(vec![signs(&one), unresolved(&one), signs(&one)]),
            "authorized or ended",
        ),
        ("one of what was denied", vec![granted(&grant), asks(&denied), signs(&denied)], "ended"),
        ("one after it was dismissed", start(vec![dismissed(&one), signs(&one)]), "ended"),
        ("a draw past the budget", [vec![granted(&grant)], beyond].concat(), "budget has left"),
        (
            "a draw above the cap",
            vec![granted(&grant), asks(&dear), signs(&dear)],
            "more than the grant allows at once",
        ),
        (
            "a fee above the cap",
            start(vec![signs_as(&one, |s| s.fee_sat = sats(1_001))]),
            "fee is more than",
        ),
        (
            "another amount",
            start(vec![signs_as(&one, |s| s.amount_sat = sats(8_999))]),
            "something else than was asked",
        ),
        (
            "another payment",
            start(vec![signs_as(&one, |s| s.intent_digest = dust.intent_digest)]),
            "something else than was asked",
        ),
        (
            "under another grant",
            start(vec![
                (
                    Event::SpendGranted(Granted {
                        grant: anew.clone(),
                        replaces: Some(grant.grant_id.clone()),
                    }),
                    issued(&anew).into_iter().chain([issued(&grant)[0].clone()]).collect(),
                ),
                late(&one, &anew),
            ]),
            "never filed",
        ),
        (
            "a refund after it was signed",
            start(vec![signs(&one), signed(&one), fails(&one, 9_000)]),
            "that was signed",
        ),
        ("a refund of more", start(vec![signs(&one), fails(&one, 9_001)]), "something else"),
        ("a refund of nothing", start(vec![fails(&one, 9_000)]), "draws nothing"),
        (
            "a refund of what was sent",
            start(vec![signs(&one), sent(&one), fails(&one, 9_000)]),
            "draws nothing",
        ),
        (
            "another transaction",
            start(vec![signs_as(&one, |s| s.txid = txid(2)), sent(&one)]),
            "not the one that was authorized",
        ),
        ("sent before it was authorized", start(vec![sent(&one)]), "not where"),
        (
            "unresolved after it was signed",
            start(vec![signs(&one), signed(&one), unresolved(&one)]),
            "not where",
        ),
        ("dismissed while it is signed", start(vec![signs(&one), dismissed(&one)]), "not where"),
        ("filed twice", start(vec![asks(&one)]), "filed before"),
        ("under a revoked grant", start(vec![revoked(&grant), signs(&one)]), "that is over"),
        ("under a closed grant", start(vec![closed.clone(), signs(&one)]), "that is over"),
        ("in observe", start(vec![observes(&grant), signs(&one)]), "observing only"),
        ("revoked twice", start(vec![revoked(&grant), revoked(&grant)]), "revoked"),
        ("a list of what is over", start(vec![revoked(&grant), list]), "that is over"),
        ("observed twice", start(vec![observes(&grant), observes(&grant)]), "to what it was"),
        ("a second grant of the agent", start(vec![granted(&anew)]), "does not replace"),
        ("issued twice", start(vec![granted(&grant)]), "issued before"),
        ("never filed", vec![granted(&grant), signs(&one)], "never filed"),
        ("by another agent", vec![granted(&grant), asks(&bobs)], "of another agent or network"),
        ("on another network", vec![granted(&grant), asks(&real)], "of another agent or network"),
        ("under no grant", vec![asks(&one)], "never issued"),
        (
            "a refund of another fee",
            start(vec![signs_as(&one, |s| s.fee_sat = sats(201)), fails(&one, 9_000)]),
            "something else",
        ),
    ] {
        let (back, why) = Tale::new().tell(rows).fault().unwrap_or_else(|| panic!("{name}"));
        assert!(back == 0 && why.contains(cause), "{name}: {back} before the end, {why}");
    }
}

#[test]
fn a_draw_at_the_last_instant_is_too_late() {
    let mut tale = Tale::new();
    let grant = tale.grant();
    let one = filed(&grant, "one", 9_000);
    tale = tale.tell(vec![granted(&grant), asks(&one)]);
    tale.scribe.now = grant.expires_at;
    let (back, why) = tale.tell(vec![signs(&one)]).fault().unwrap();
    assert!(back == 0 && why.contains("has expired"), "{why}");
}

#[test]
fn a_body_is_held_against_its_subjects() {
    let tale = Tale::new();
    let grant = tale.grant();
    let one = filed(&grant, "one", 9_000);
    let other = filed(&grant, "other", 9_000);
    let lied = Filed { amount_sat: sats(1), ..one.clone() };
    let foreign = SpendGrant { book: Id::new(Stamp::from_micros(0), 1), ..grant.clone() };
    let empty = SpendGrant { expires_at: grant.created_at, ..grant.clone() };
    let elsewhere = SpendGrant { agent: "bob".parse().unwrap(), ..grant.clone() };
    for (name, row, cause) in [
        ("another id", (Event::SpendFiled(one.clone()), request(&other)), "owner"),
        ("another amount", (Event::SpendFiled(lied.clone()), request(&lied)), "intent_digest"),
        ("another book", granted(&foreign), "another book"),
        ("no window", granted(&empty), "empty"),
        ("another agent", (granted(&elsewhere).0, issued(&grant)), "of its body"),
        ("one subject more", (asks(&one).0, drawn(&one)), "not those of its kind"),
        ("one subject less", (signs(&one).0, request(&one)), "not those of its kind"),
        ("the other order", (signs(&one).0, drawn(&one).into_iter().rev().collect()), "lack"),
    ] {
        let (_, why) = Tale::new().tell(vec![row]).fault().unwrap_or_else(|| panic!("{name}"));
        assert!(why.contains(cause), "{name}: {why}");
    }
}
