//! A sequence of decisions comes to what the model says, step by step, and its ledger verifies.

use std::cell::Cell;
use std::sync::Arc;

use granted::ledger::verify::verify;
use granted::{Book, Door, Home, Request, Verdict};
use granted_core::decision::document::{DocumentName, render};
use granted_core::decision::event::Minted;
use granted_core::decision::{Grant, Object, Use};
use granted_core::ledger::{Draft, Event, Subject};
use granted_core::store::Ledger as _;
use granted_core::time::{Clock as _, Stamp};
use granted_testkit::{Fault, FaultyLedger, FixedClock, MemoryDocuments, MemoryLedger, sample};

#[expect(dead_code, reason = "the program's own tests use all of it")]
#[path = "../../crates/granted/src/decision/model.rs"]
mod model;

use model::{Act, Answer, Ask, Document, Model, Offer};

/// Each step is a byte that says which, and the bytes that it takes.
pub fn run(bytes: &[u8]) {
    let mut bytes = bytes.iter().copied();
    let mut both = Both::new();
    for _ in 0..200 {
        let Some(step) = bytes.next() else { break };
        let mut next = || bytes.next().unwrap_or(0);
        match step % 8 {
            0..=1 => both.mint(offer(&mut next)),
            2..=4 => both.discharge(&ask(&mut next)),
            5 => both.document(next(), next()),
            6 => both.wait(i64::from(next()) / 4 - 8),
            _ => both.restart(),
        }
        both.compare();
    }
    let found = verify(&*both.ledger, &mut |_| {}).expect("it is in memory");
    assert_eq!((found.fault, found.unfinished), (None, None));
}

fn offer(next: &mut impl FnMut() -> u8) -> Offer {
    let (flags, lasts, opens) = (next(), next(), next());
    let flag = |bit: u8| flags >> bit & 1 == 1;
    Offer {
        object: usize::from(flag(0)),
        session: flag(1),
        again: true,
        send_only: flag(2),
        agent: flag(2) && flag(3),
        lasts: i64::from(lasts),
        opens: flag(4).then_some(i64::from(opens)),
    }
}

fn ask(next: &mut impl FnMut() -> u8) -> Ask {
    let (flags, act, words) = (next(), next(), next());
    let of = |words: [Option<&'static str>; 4], place: u8| words[usize::from(place & 3)];
    Ask {
        object: usize::from(flags & 1),
        act: Act::ALL[usize::from(act) % Act::ALL.len()],
        key: of([None, None, Some("k"), Some("l")], words),
        action: of([None, Some("send"), Some("send"), Some("pay")], words >> 2),
        agent: flags & 2 == 2,
        executor: if flags & 12 == 12 { "other" } else { "closure" },
    }
}

/// The program, over a store in memory, and the model of it.
struct Both {
    dir: tempfile::TempDir,
    clock: Arc<FixedClock>,
    ledger: Arc<FaultyLedger>,
    documents: Arc<MemoryDocuments>,
    book: Option<Book>,
    grants: Vec<Grant>,
    model: Model,
    runs: Cell<usize>,
}

fn object(number: usize) -> Object {
    sample::object(number.try_into().expect("there are two"))
}

impl Both {
    fn new() -> Both {
        let clock = Arc::<FixedClock>::default();
        let ledger = Arc::new(FaultyLedger::new(Arc::new(MemoryLedger::new(clock.clone()))));
        ledger.append(&[sample::opened()]).expect("it is written");
        let mut model = Model::default();
        // It opens the book by a mint that is refused.
        let refused = Offer {
            object: 0,
            session: false,
            again: true,
            send_only: false,
            agent: false,
            lasts: 0,
            opens: None,
        };
        assert!(!model.mint(&refused));
        let (dir, documents) = (tempfile::tempdir().expect("there is room"), Arc::default());
        let runs = Cell::new(0);
        let mut both =
            Both { dir, clock, ledger, documents, book: None, grants: vec![], model, runs };
        both.restart();
        both
    }

    fn restart(&mut self) {
        // The lock of its acts is free only once the old one is gone.
        self.book = None;
        let (ledger, documents) = (self.ledger.clone(), self.documents.clone());
        let home = Home::at(self.dir.path());
        self.book = Some(Book::with(home, Door::Library, ledger, documents, self.clock.clone()));
    }

    fn book(&self) -> &Book {
        self.book.as_ref().expect("it was started")
    }

    fn after(&self, seconds: i64) -> Stamp {
        Stamp::from_micros(self.clock.now().micros() + seconds * 1_000_000)
    }

    /// No door that is public mints, so the row is written as a mint would write it.
    fn mint(&mut self, offer: Offer) {
        if !self.model.mint(&offer) {
            return;
        }
        let number = 100 + u64::try_from(self.grants.len()).expect("there are few");
        let grant = Grant {
            agent: offer.agent.then(|| "claude".parse().expect("a name")),
            allowed_actions: offer
                .send_only
                .then(|| "send".parse().expect("a name"))
                .into_iter()
                .collect(),
            decision: if offer.session { Use::Session } else { Use::Once },
            minted_at: self.clock.now(),
            not_after: self.after(offer.lasts),
            not_before: offer.opens.map(|opens| self.after(opens)),
            object: object(offer.object),
            ..sample::grant(number)
        };
        let subject = Subject::object(&grant.object);
        let seen =
            self.ledger.rows(&subject).expect("it is in memory").last().map_or(0, |row| row.seq);
        let name = DocumentName::new(&grant.object, grant.id);
        self.documents.put(&name, Some(render(&grant).into_bytes()));
        let refs = vec![(Subject::grant(grant.id), 0), (subject, seen)];
        let event = Event::Minted(Minted { grant: grant.clone() });
        let draft = Draft::new(event, sample::by(), refs);
        self.ledger.append(&[draft]).expect("nobody else writes");
        self.grants.push(grant);
    }

    fn discharge(&mut self, ask: &Ask) {
        let mut request =
            Request::new("report", &ask.object.to_string(), ask.executor).expect("names");
        request.action = ask.action.map(|action| action.parse().expect("a name"));
        request.key = ask.key.map(|key| key.parse().expect("a name"));
        request.agent = ask.agent.then(|| "claude".parse().expect("a name"));
        let report = granted::discharge(self.book(), &request, |grant, act| {
            self.runs.set(self.runs.get() + 1);
            match ask.act {
                Act::Done | Act::DeclinesWithRow => act.result(true, None),
                Act::SaysFailed => act.result(false, None),
                Act::Cut => self.ledger.next(Fault::NotWritten),
                Act::DocumentGone => {
                    self.documents.put(&DocumentName::new(&grant.object, grant.id), None);
                    act.result(true, None);
                }
                // A fuzzer takes every panic for a find, so it fails instead.
                Act::Panics | Act::SaysNothing | Act::Declines | Act::Fails | Act::Unsure => {}
            }
            match ask.act {
                Act::Declines | Act::DeclinesWithRow => Verdict::Declined,
                Act::Fails | Act::Panics => Verdict::Failed("no".into()),
                Act::Unsure => Verdict::Uncertain("who knows".into()),
                _ => Verdict::Done,
            }
        });
        let told = Answer { reason: report.reason, replayed: report.replayed };
        assert_eq!(told, self.model.discharge(ask), "{ask:?}: {report}");
    }

    fn document(&mut self, grant: u8, to: u8) {
        let Some(place) = usize::from(grant).checked_rem(self.grants.len()) else { return };
        let grant = &self.grants[place];
        let (to, text) = match to % 5 {
            0..=1 => (Document::AsMinted, Some(render(grant))),
            2 => (Document::Gone, None),
            3 => {
                let scope = "much more".parse().expect("words");
                (Document::Edited, Some(render(&Grant { scope, ..grant.clone() })))
            }
            _ => (Document::Spent, Some(render(&Grant { consumed: true, ..grant.clone() }))),
        };
        let name = DocumentName::new(&grant.object, grant.id);
        self.documents.put(&name, text.map(String::into_bytes));
        self.model.grants[place].document = to;
    }

    fn wait(&mut self, seconds: i64) {
        self.clock.set(self.after(seconds));
        self.model.now += seconds;
    }

    fn compare(&self) {
        for number in 0..2 {
            let view = granted::status(self.book(), &object(number)).expect("it is in memory");
            assert_eq!(view.status, self.model.status(number));
            assert_eq!(view.running, None);
        }
        assert_eq!(self.runs.get(), self.model.runs);
        let rows = self.ledger.head().expect("it is in memory").map_or(0, |head| head.seq);
        assert_eq!(rows, self.model.rows);
    }
}
