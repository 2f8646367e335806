//! Keys, signatures and trust: what counts, and what does not.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

use ed25519_dalek::{Signer as _, SigningKey};
use granted_core::decision::document::render;
use granted_core::decision::event::{Minted, Resolved};
use granted_core::decision::{Grant, Reason};
use granted_core::id::Id;
use granted_core::ledger::audit::{Audit, Move, check_subject_events};
use granted_core::ledger::{Draft, Event, Row, Subject};
use granted_core::store::{Ledger, RawLine};
use granted_core::text::Name;
use granted_core::trust::event::{KeyTrusted, ModeSet};
use granted_core::trust::state::SignatureError;
use granted_core::trust::{
    Change, Flaw, Mode, PublicKey, Purpose, Refusal, Signature, Statement, Trust,
};
use granted_testkit::{FixedClock, MemoryLedger, sample};
use std::ops::ControlFlow;
use std::sync::Arc;

struct Key(SigningKey);

impl Key {
    fn new(seed: u8) -> Key {
        Key(SigningKey::from_bytes(&[seed; 32]))
    }

    fn public(&self) -> PublicKey {
        PublicKey::from_bytes(self.0.verifying_key().as_bytes()).unwrap()
    }

    fn sign(&self, statement: &Statement) -> Signature {
        let bytes = self.0.sign(&statement.bytes()).to_bytes();
        Signature::ed25519(self.public().id(), &bytes)
    }
}

fn name(text: &str) -> Name {
    Name::new(text).unwrap()
}

/// A ledger of book 0 with what the tests append.
struct Story(MemoryLedger);

impl Story {
    fn new() -> Story {
        let story = Story(MemoryLedger::new(Arc::new(FixedClock::default())));
        story.0.append(&[sample::opened()]).unwrap();
        story
    }

    /// A book that trusts key 1 and asks for signatures.
    fn signed() -> Story {
        let story = Story::new();
        let key = Key::new(1);
        story.change(Change::Trust(key.public(), name("one")), None).unwrap();
        story.change(Change::Mode(Mode::Signed), None).unwrap();
        story
    }

    fn trust(&self) -> Trust {
        Trust::fold(sample::id(0), &self.0.rows(&Subject::trust()).unwrap())
    }

    /// Makes a change; `by` signs what has to be signed.
    fn change(&self, change: Change, by: Option<&Key>) -> Result<(), Refusal> {
        let trust = self.trust();
        let statement = change.statement(sample::id(0), &trust);
        let signature = by.zip(statement).map(|(key, statement)| key.sign(&statement));
        let draft = change.draft(sample::id(0), &trust, signature, &sample::by())?;
        self.0.append(&[draft]).unwrap();
        Ok(())
    }

    /// Appends a row as a program could that writes the file itself.
    fn forge(&self, event: Event, subjects: &[Subject]) {
        let last = |subject: &Subject| self.0.rows(subject).unwrap().last().map_or(0, |r| r.seq);
        let refs = subjects.iter().map(|subject| (subject.clone(), last(subject))).collect();
        self.0.append(&[Draft::new(event, sample::by(), refs)]).unwrap();
    }

    fn mint(&self, grant: Grant) {
        let subjects = [Subject::grant(grant.id), Subject::object(&grant.object)];
        self.forge(Event::Minted(Minted { grant }), &subjects);
    }

    /// What an audit says.
    fn audit(&self) -> Result<(), String> {
        let (mut audit, mut moves, mut said) = (Audit::default(), Vec::<Move>::new(), Ok(()));
        let mut offset = 0;
        let mut visit = |line: RawLine<'_>| {
            let line = RawLine { offset, ..line };
            offset += u64::try_from(line.bytes.len()).unwrap() + 1;
            said = audit.line(line, |m| moves.push(m)).map_err(|fault| fault.to_string());
            if said.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        self.0.scan(1, &mut visit).unwrap();
        said?;
        for bytes in moves.iter().map(Move::to_bytes) {
            assert!(Move::from_bytes(&bytes).is_some());
        }
        check_subject_events(moves).map_err(|illegal| illegal.to_string())
    }
}

fn signed_by(key: &Key, grant: Grant) -> Grant {
    let signatures = vec![key.sign(&Statement::grant(&grant))];
    Grant { signatures, ..grant }
}

#[test]
fn the_signed_bytes_are_frozen() {
    let statement = Statement::grant(&sample::grant(7));
    let bytes = String::from_utf8(statement.bytes()).unwrap();
    let (head, payload) = bytes.split_once(" {").unwrap();
    assert_eq!(
        head,
        format!("DSSEv1 40 application/vnd.granted.decision.v1+json {}", payload.len() + 1)
    );
    assert_eq!(format!("{{{payload}"), statement.payload());
    let value: serde_json::Value = serde_json::from_str(statement.payload()).unwrap();
    assert_eq!(serde_json_canonicalizer::to_string(&value).unwrap(), statement.payload());
    // What is fixed at mint is signed, and nothing else.
    let spent = Grant { consumed: true, ..signed_by(&Key::new(1), sample::grant(7)) };
    assert_eq!(Statement::grant(&spent), statement);
}

#[test]
fn a_signed_grant_is_good_by_a_trusted_key_only() {
    let story = Story::signed();
    let (one, two) = (Key::new(1), Key::new(2));
    let trust = story.trust();
    let good = signed_by(&one, sample::grant(7));
    assert_eq!(trust.signers(&good).unwrap()[0].name, name("one"));
    let reason = |grant: &Grant| trust.signers(grant).unwrap_err().0;
    assert_eq!(reason(&sample::grant(7)), Reason::Unsigned);
    assert_eq!(reason(&signed_by(&two, sample::grant(7))), Reason::UntrustedKey);
    // By two: the trusted one is enough.
    let mut both = signed_by(&two, sample::grant(7));
    both.signatures.extend(good.signatures.clone());
    assert!(trust.signers(&both).is_ok());
    // But not when it is minted: two may come to be trusted later.
    let untrusted = SignatureError::Untrusted(two.public().id());
    assert_eq!(trust.signers_at_mint(&both), Err(untrusted.clone()));
    assert_eq!(trust.signers_at_mint(&good), trust.signers(&good).map_err(|(_, why)| why));
    // Of another grant, another book, another purpose.
    let moved = Grant { signatures: good.signatures.clone(), ..sample::grant(8) };
    assert_eq!(reason(&moved), Reason::BadSignature);
    let elsewhere = Grant { book: sample::id(5), ..sample::grant(7) };
    assert_eq!(reason(&signed_by(&one, elsewhere)), Reason::BadSignature);
    let other = Statement::open(sample::id(0), trust.last);
    let misused = Grant { signatures: vec![one.sign(&other)], ..sample::grant(7) };
    assert_eq!(reason(&misused), Reason::BadSignature);
    // Where none is asked for one need not be there, but a bad one is told.
    let open = Story::new();
    open.change(Change::Trust(one.public(), name("one")), None).unwrap();
    assert!(open.trust().signers(&sample::grant(7)).unwrap().is_empty());
    assert!(open.trust().signers(&signed_by(&two, sample::grant(7))).unwrap().is_empty());
    let by_two = signed_by(&two, sample::grant(7));
    assert_eq!(open.trust().signers_at_mint(&by_two), Err(untrusted));
    assert_eq!(open.trust().signers(&moved).unwrap_err().0, Reason::BadSignature);
}

#[test]
fn every_byte_of_a_signed_grant_counts() {
    let trust = Story::signed().trust();
    let not_before = Some(sample::now());
    let mut grant = Grant { not_before, ..sample::grant(7) };
    grant.agent = Some(name("claude"));
    grant.executor = Some(name("send_report"));
    grant.not_scope = vec!["nobody else".parse().unwrap()];
    let signed = signed_by(&Key::new(1), grant);
    assert!(trust.signers(&signed).is_ok());
    assert_eq!(serde_json::from_str::<Grant>(&render(&signed)).unwrap(), signed);
    let text = serde_json::to_string(&signed).unwrap();
    let signatures = text.find("\"signatures\"").unwrap();
    let mut changed = 0;
    for at in 0..text.len() {
        for flip in [1, 2, 4, 8, 16, 32, 64] {
            let mut bytes = text.clone().into_bytes();
            bytes[at] ^= flip;
            let Ok(other) = serde_json::from_slice::<Grant>(&bytes) else { continue };
            let signed_part = Statement::grant(&other) != Statement::grant(&signed);
            if signed_part || at > signatures {
                changed += 1;
                assert!(trust.signers(&other).is_err(), "byte {at}: {other:?}");
            }
        }
    }
    assert!(changed > 500, "{changed}");
}

#[test]
fn each_purpose_has_its_own_type_and_namespace() {
    for (index, purpose) in Purpose::ALL.iter().enumerate() {
        for other in &Purpose::ALL[index + 1..] {
            assert_ne!(purpose.payload_type(), other.payload_type());
            assert_ne!(purpose.namespace(), other.namespace());
        }
    }
}

#[test]
fn the_first_key_is_trusted_on_first_use_and_no_other() {
    let story = Story::new();
    let (one, two, three) = (Key::new(1), Key::new(2), Key::new(3));
    let trust = |key: &Key, called: &str| Change::Trust(key.public(), name(called));
    assert_eq!(story.change(Change::Mode(Mode::Signed), None), Err(Refusal::NoKey));
    story.change(trust(&one, "one"), None).unwrap();
    let missing = Refusal::Signature(SignatureError::Missing);
    assert_eq!(story.change(trust(&two, "two"), None), Err(missing.clone()));
    let untrusted = Refusal::Signature(SignatureError::Untrusted(two.public().id()));
    assert_eq!(story.change(trust(&two, "two"), Some(&two)), Err(untrusted));
    story.change(trust(&two, "two"), Some(&one)).unwrap();
    assert_eq!(story.trust().keys()[1].by, Some(one.public().id()));
    let id = two.public().id();
    assert_eq!(story.change(trust(&two, "other"), Some(&one)), Err(Refusal::Trusted(id)));
    let taken = Err(Refusal::NameTaken(name("two")));
    assert_eq!(story.change(trust(&three, "two"), Some(&one)), taken);

    // Taking trust back needs no signature; giving it again does, and the old one is of no use.
    let old = story.0.rows(&Subject::trust()).unwrap().pop().unwrap();
    story.change(Change::Untrust(id, None), None).unwrap();
    assert_eq!(story.change(Change::Untrust(id, None), None), Err(Refusal::NotTrusted(id)));
    let before = story.trust();
    story.forge(old.event.clone(), &[Subject::trust()]);
    assert!(story.trust().key(id).is_none(), "an old signature was taken again");
    assert_eq!(story.trust().keys(), before.keys());
    assert!(story.audit().unwrap_err().contains("no trusted key signed it"));

    // Nor does a book without keys begin anew.
    let story = Story::new();
    story.change(trust(&one, "one"), None).unwrap();
    story.change(Change::Untrust(one.public().id(), None), None).unwrap();
    assert_eq!(story.change(trust(&two, "two"), None), Err(missing));
}

#[test]
fn signatures_are_given_up_with_a_signature_only() {
    let story = Story::signed();
    let (one, two) = (Key::new(1), Key::new(2));
    let missing = Err(Refusal::Signature(SignatureError::Missing));
    assert_eq!(story.change(Change::Mode(Mode::Open), None), missing);
    assert_eq!(
        story.change(Change::Mode(Mode::Signed), None),
        Err(Refusal::SameMode(Mode::Signed))
    );
    // Rows that somebody wrote into the file change nothing, and an audit tells of them.
    let signature = Some(two.sign(&Statement::open(sample::id(0), story.trust().last)));
    story.forge(Event::ModeSet(ModeSet { mode: Mode::Open, signature }), &[Subject::trust()]);
    let body = KeyTrusted { key: two.public(), name: name("two"), signature: None };
    story.forge(Event::KeyTrusted(body), &[Subject::trust()]);
    assert_eq!(story.trust().mode, Mode::Signed);
    assert!(story.trust().key(two.public().id()).is_none());
    assert!(story.audit().unwrap_err().starts_with("line 4"), "{:?}", story.audit());

    let story = Story::signed();
    story.change(Change::Mode(Mode::Open), Some(&one)).unwrap();
    assert_eq!(story.trust().mode, Mode::Open);
    assert_eq!(story.audit(), Ok(()));
}

#[test]
fn an_audit_holds_rows_against_the_keys_of_their_time() {
    let (one, two) = (Key::new(1), Key::new(2));
    let claim = |story: &Story| {
        let last = story.0.rows(&sample::grant_subject(7)).unwrap().last().unwrap().seq;
        story.0.append(&[sample::intent(100, 7, last)]).unwrap();
    };
    // Signed, used, and the key untrusted since: history stays true.
    let story = Story::signed();
    story.mint(signed_by(&one, sample::grant(7)));
    claim(&story);
    story.change(Change::Untrust(one.public().id(), None), None).unwrap();
    assert_eq!(story.audit(), Ok(()));
    // Used after its key was untrusted.
    let story = Story::signed();
    story.mint(signed_by(&one, sample::grant(7)));
    story.change(Change::Untrust(one.public().id(), None), None).unwrap();
    claim(&story);
    assert!(story.audit().unwrap_err().contains("no key that is trusted signed the grant"));
    // Minted before signatures were asked for, used after.
    let story = Story::new();
    story.change(Change::Trust(one.public(), name("one")), None).unwrap();
    story.mint(sample::grant(7));
    story.change(Change::Mode(Mode::Signed), None).unwrap();
    assert_eq!(story.audit(), Ok(()));
    claim(&story);
    assert!(story.audit().unwrap_err().contains("no key that is trusted signed the grant"));
    // Minted without, or by a stranger.
    for (grant, why) in [
        (sample::grant(7), "no trusted key signed it"),
        (signed_by(&two, sample::grant(7)), "the key that signed it is not trusted"),
        (
            Grant { signatures: signed_by(&one, sample::grant(8)).signatures, ..sample::grant(7) },
            "its signature is wrong",
        ),
    ] {
        let story = Story::signed();
        story.mint(grant);
        assert!(story.audit().unwrap_err().contains(why), "{why}: {:?}", story.audit());
    }
}

#[test]
fn the_persons_word_is_signed_once_a_key_is_trusted() {
    let one = Key::new(1);
    let uncertain = |story: &Story| {
        story.mint(signed_by(&one, sample::grant(7)));
        let last = story.0.rows(&sample::grant_subject(7)).unwrap().last().unwrap().seq;
        story.0.append(&[sample::intent(100, 7, last)]).unwrap();
        let claimed = story.0.rows(&sample::grant_subject(7)).unwrap().last().unwrap().seq;
        let mut outcome = sample::outcome(100, 7, (claimed, claimed));
        if let Event::Outcome(body) = &mut outcome.event {
            (body.outcome, body.reason) = (Reason::Interrupted.class(), Reason::Interrupted);
        }
        story.0.append(&[outcome]).unwrap();
        story.0.rows(&sample::discharge_subject(100)).unwrap().last().unwrap().seq
    };
    let resolved =
        |signature| Resolved { by: "me".parse().unwrap(), happened: true, note: None, signature };
    let story = Story::signed();
    let last = uncertain(&story);
    let statement = |id: Id, happened| {
        Statement::resolve(sample::id(0), id, last, happened, &"me".parse().unwrap(), None)
    };
    for (signature, good) in [
        (Some(one.sign(&statement(sample::id(100), true))), true),
        (None, false),
        (Some(one.sign(&statement(sample::id(100), false))), false),
        (Some(one.sign(&statement(sample::id(101), true))), false),
    ] {
        let story = Story::signed();
        uncertain(&story);
        story.forge(Event::Resolved(resolved(signature)), &[sample::discharge_subject(100)]);
        assert_eq!(story.audit().is_ok(), good, "{:?}", story.audit());
    }
}

#[test]
fn a_signature_names_its_key() {
    let (one, two) = (Key::new(1), Key::new(2));
    let statement = Statement::grant(&sample::grant(7));
    assert_eq!(one.sign(&statement).verify(&one.public(), &statement), Ok(()));
    assert_eq!(one.sign(&statement).verify(&two.public(), &statement), Err(Flaw::Key));
    let other = Statement::grant(&sample::grant(8));
    assert_eq!(one.sign(&statement).verify(&one.public(), &other), Err(Flaw::Wrong));
    let row = Row::parse(&story_row().line()).unwrap();
    assert_eq!(row, story_row());
}

/// A row with a signature in it.
fn story_row() -> Row {
    let story = Story::signed();
    story.mint(signed_by(&Key::new(1), sample::grant(7)));
    story.0.rows(&sample::grant_subject(7)).unwrap().remove(0)
}
