//! Random sequences of verbs against a tiny model of what they should come to.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::sync::Arc;

use granted_core::decision::conclude::Verdict;
use granted_core::decision::discharge::Request;
use granted_core::decision::document::{DocumentName, render};
use granted_core::decision::event::Resolved;
use granted_core::decision::mint::Terms;
use granted_core::decision::{Grant, Object, Reason, Use};
use granted_core::id::Id;
use granted_core::ledger::Door;
use granted_core::store::Ledger as _;
use granted_core::time::{Clock as _, Stamp};
use granted_testkit::{Fault, FaultyLedger, FixedClock, MemoryDocuments, MemoryLedger};
use proptest::prelude::*;

use super::model::{Act, Answer, Ask, Document, Model, Offer};
use super::resolve::{ResolveError, resolve};
use super::revoke::{RevokeError, Target, revoke};
use super::{list, mint, tick};
use crate::book::Book;
use crate::home::Home;
use crate::ledger::verify::verify;

/// One step. Grants and attempts are named by their place, modulo how many there are.
#[derive(Clone, Debug)]
enum Step {
    Mint(Offer),
    Discharge(Ask),
    Revoke(usize),
    RevokeGrant(usize),
    Document(usize, Document),
    Wait(i64),
    Tick,
    Resolve(usize),
    Restart,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let object = 0..2_usize;
    let offer = (object.clone(), any::<[bool; 4]>(), 1..200_i64, prop::option::of(0..60_i64));
    let offer =
        offer.prop_map(|(object, [session, again, send_only, agent], lasts, opens)| Offer {
            object,
            session,
            again,
            send_only,
            // Rarely: else most attempts are turned away for it.
            agent: agent && send_only,
            lasts,
            opens: opens.filter(|opens| *opens > 40),
        });
    let act = prop::sample::select(Act::ALL);
    let action = prop::sample::select(vec![None, Some("send"), Some("send"), Some("pay")]);
    let key = prop::option::of(prop::sample::select(vec!["k", "l"]));
    let ask = (object.clone(), act, key, action, any::<bool>(), prop::bool::weighted(0.1));
    let ask = ask.prop_map(|(object, act, key, action, agent, other)| {
        let executor = if other { "other" } else { "closure" };
        Ask { object, act, key, action, agent, executor }
    });
    let document = prop::sample::select(vec![
        Document::AsMinted,
        Document::AsMinted,
        Document::Gone,
        Document::Edited,
        Document::Spent,
    ]);
    let step = prop_oneof![
        6 => offer.prop_map(Step::Mint),
        12 => ask.prop_map(Step::Discharge),
        1 => object.prop_map(Step::Revoke),
        1 => any::<usize>().prop_map(Step::RevokeGrant),
        3 => (any::<usize>(), document).prop_map(|(grant, to)| Step::Document(grant, to)),
        4 => (-12..60_i64).prop_map(Step::Wait),
        2 => Just(Step::Tick),
        2 => any::<usize>().prop_map(Step::Resolve),
        1 => Just(Step::Restart),
    ];
    prop::collection::vec(step, 1..60)
}

/// The program, with all that it stands on in memory.
struct Real {
    dir: tempfile::TempDir,
    clock: Arc<FixedClock>,
    ledger: Arc<FaultyLedger>,
    documents: Arc<MemoryDocuments>,
    book: Option<Book>,
    grants: Vec<Grant>,
    claims: Vec<Id>,
    runs: Cell<usize>,
}

fn object(number: usize) -> Object {
    Object { id: number.to_string().parse().unwrap(), r#type: "report".parse().unwrap() }
}

impl Real {
    fn new() -> Real {
        let clock = Arc::<FixedClock>::default();
        let ledger = FaultyLedger::new(Arc::new(MemoryLedger::new(clock.clone())));
        let mut real = Real {
            dir: tempfile::tempdir().unwrap(),
            clock,
            ledger: Arc::new(ledger),
            documents: Arc::default(),
            book: None,
            grants: vec![],
            claims: vec![],
            runs: Cell::new(0),
        };
        real.restart();
        real
    }

    /// Ends the process and starts another.
    fn restart(&mut self) {
        self.book = None;
        let (ledger, documents) = (self.ledger.clone(), self.documents.clone());
        let home = Home::at(self.dir.path());
        let book = Book::with(home, Door::Library, ledger, documents, self.clock.clone());
        self.book = Some(book);
    }

    fn book(&self) -> &Book {
        self.book.as_ref().unwrap()
    }

    fn after(&self, seconds: i64) -> Stamp {
        Stamp::from_micros(self.clock.now().micros() + seconds * 1_000_000)
    }

    fn mint(&mut self, offer: &Offer) -> bool {
        let terms = Terms {
            agent: offer.agent.then(|| "claude".parse().unwrap()),
            allowed_actions: offer.send_only.then(|| "send".parse().unwrap()).into_iter().collect(),
            binds: vec![],
            decision: if offer.session { Use::Session } else { Use::Once },
            executor: None,
            executor_bound: None,
            minted_by: "me".parse().unwrap(),
            not_after: self.after(offer.lasts),
            not_before: offer.opens.map(|opens| self.after(opens)),
            not_scope: vec![],
            object: object(offer.object),
            scope: "as agreed".parse().unwrap(),
            again: offer.again,
        };
        match mint::mint(self.book(), &[terms]) {
            Ok(minted) => {
                self.grants.extend(minted.into_iter().map(|minted| minted.grant));
                true
            }
            Err(mint::MintError::Refused(..)) => false,
            Err(e) => panic!("{e}"),
        }
    }

    fn discharge(&mut self, ask: &Ask) -> Answer {
        let mut request = Request::new("report", &ask.object.to_string(), ask.executor).unwrap();
        request.action = ask.action.map(|action| action.parse().unwrap());
        request.key = ask.key.map(|key| key.parse().unwrap());
        request.agent = ask.agent.then(|| "claude".parse().unwrap());
        let runs = self.runs.get();
        let report = crate::discharge(self.book(), &request, |grant, act| {
            self.runs.set(runs + 1);
            match ask.act {
                Act::Done => act.result(true, None),
                Act::Cut => self.ledger.next(Fault::NotWritten),
                Act::DocumentGone => {
                    self.documents.put(&DocumentName::new(&grant.object, grant.id), None);
                    act.result(true, None);
                }
                Act::SaysFailed => act.result(false, None),
                Act::DeclinesWithRow => act.result(true, None),
                // Without the message that a panic prints.
                Act::Panics => std::panic::resume_unwind(Box::new("boom")),
                Act::SaysNothing | Act::Declines | Act::Fails | Act::Unsure => {}
            }
            match ask.act {
                Act::Declines | Act::DeclinesWithRow => Verdict::Declined,
                Act::Fails => Verdict::Failed("no".into()),
                Act::Unsure => Verdict::Uncertain("who knows".into()),
                _ => Verdict::Done,
            }
        });
        if self.runs.get() > runs {
            self.claims.push(report.discharge_id.unwrap());
        }
        Answer { reason: report.reason, replayed: report.replayed }
    }

    fn revoke(&self, target: Target) -> bool {
        match revoke(self.book(), &target, None, None) {
            Ok(_) => true,
            Err(RevokeError::Book(e)) => panic!("{e}"),
            Err(_) => false,
        }
    }

    fn document(&self, grant: usize, to: Document) {
        let grant = &self.grants[grant];
        let text = match to {
            Document::AsMinted => Some(render(grant)),
            Document::Gone => None,
            Document::Edited => {
                Some(render(&Grant { scope: "much more".parse().unwrap(), ..grant.clone() }))
            }
            Document::Spent => Some(render(&Grant { consumed: true, ..grant.clone() })),
        };
        let name = DocumentName::new(&grant.object, grant.id);
        self.documents.put(&name, text.map(String::into_bytes));
    }

    fn resolve(&self, claim: usize) -> bool {
        let resolved =
            Resolved { by: "me".parse().unwrap(), happened: false, note: None, signature: None };
        match resolve(self.book(), self.claims[claim], &resolved, |_, _| {
            unreachable!("no key is trusted")
        }) {
            Ok(()) => true,
            Err(ResolveError::Refused(_)) => false,
            Err(ResolveError::Book(e)) => panic!("{e}"),
        }
    }

    /// How many grants a tick found expired, interrupted and due.
    fn tick(&self) -> [usize; 3] {
        let ticked = tick::tick(self.book()).unwrap();
        [ticked.expired.len(), ticked.interrupted.len(), ticked.due.len()]
    }
}

/// Takes the step in both, and compares what is told.
fn take(step: &Step, real: &mut Real, model: &mut Model) -> Result<(), TestCaseError> {
    let pick = |place: usize, count: usize| place.checked_rem(count);
    match step {
        Step::Mint(offer) => prop_assert_eq!(real.mint(offer), model.mint(offer)),
        Step::Discharge(ask) => prop_assert_eq!(real.discharge(ask), model.discharge(ask)),
        Step::Revoke(number) => {
            let told = real.revoke(Target::Object(object(*number)));
            prop_assert_eq!(told, model.revoke(|_, grant| grant.object == *number));
        }
        Step::RevokeGrant(place) => {
            if let Some(place) = pick(*place, real.grants.len()) {
                let told = real.revoke(Target::Grant(real.grants[place].id));
                prop_assert_eq!(told, model.revoke(|index, _| index == place));
            }
        }
        Step::Document(place, to) => {
            if let Some(place) = pick(*place, real.grants.len()) {
                real.document(place, *to);
                model.grants[place].document = *to;
            }
        }
        Step::Wait(seconds) => {
            real.clock.set(real.after(*seconds));
            model.now += seconds;
        }
        Step::Tick => prop_assert_eq!(real.tick(), model.tick()),
        Step::Resolve(place) => {
            if let Some(place) = pick(*place, real.claims.len()) {
                prop_assert_eq!(real.resolve(place), model.resolve(place));
            }
        }
        Step::Restart => real.restart(),
    }
    Ok(())
}

/// Compares what can be seen at rest.
fn compare(real: &Real, model: &Model) -> Result<(), TestCaseError> {
    for number in 0..2 {
        let view = crate::status(real.book(), &object(number)).unwrap();
        prop_assert_eq!(view.status, model.status(number));
        // Nothing runs between steps: what has no outcome was cut off.
        prop_assert_eq!(view.running, None);
    }
    let live = list::list(real.book(), false).unwrap().len();
    prop_assert_eq!(live, model.live());
    prop_assert_eq!(real.runs.get(), model.runs);
    let rows = real.ledger.head().unwrap().map_or(0, |head| head.seq);
    prop_assert_eq!(rows, model.rows);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 4_096, ..ProptestConfig::with_cases(128) })]

    #[test]
    fn agrees_with_the_model(steps in steps()) {
        let (mut real, mut model) = (Real::new(), Model::default());
        for step in &steps {
            take(step, &mut real, &mut model)?;
            compare(&real, &model)?;
        }
        let found = verify(&*real.ledger, &mut |_| {}).unwrap();
        prop_assert_eq!((found.fault, found.unfinished), (None, None));
    }
}

/// The sequences are no use if they reach little of what there is.
#[test]
fn the_sequences_reach_every_reason() {
    use proptest::strategy::ValueTree as _;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut reached = std::collections::BTreeSet::new();
    for _ in 0..128 {
        let (mut real, mut model) = (Real::new(), Model::default());
        for step in &steps().new_tree(&mut runner).unwrap().current() {
            take(step, &mut real, &mut model).unwrap();
        }
        real.ledger
            .scan(1, &mut |line| {
                let row = granted_core::ledger::Row::parse(line.bytes).unwrap();
                if let granted_core::ledger::Event::Outcome(outcome) = row.event {
                    reached.insert(outcome.reason.as_str());
                }
                ControlFlow::Continue(())
            })
            .unwrap();
    }
    for reason in [
        Reason::Confirmed,
        Reason::None,
        Reason::Consumed,
        Reason::NotYet,
        Reason::Unreadable,
        Reason::Revoked,
        Reason::ActionNotAllowed,
        Reason::AgentNotNamed,
        Reason::ExecutorDeclined,
        Reason::ExecutorFailed,
        Reason::ResultFailed,
        Reason::ClockBehind,
        Reason::InvalidRequest,
        Reason::ExecutorUncertain,
        Reason::NoResultRow,
        Reason::ReceiptMismatch,
        Reason::Interrupted,
        Reason::Expired,
    ] {
        assert!(reached.contains(reason.as_str()), "{reason} is never reached");
    }
}
