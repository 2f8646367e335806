//! Random lives of spends against a model of a page: never two signatures for one request, never a refund
//! where a signature may exist, never over budget.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use granted_core::ledger::Event;
use granted_core::spend::chain::Transactions as _;
use granted_core::spend::{RequestId, Token};
use proptest::prelude::*;

use super::dismiss::dismiss;
use super::requests::requests;
use super::revoke::revoke;
use super::stage::{POINTS, Signs, Stage, agent};

const BUDGET: u64 = 50_000;
const FEE: u64 = 200;

/// What happens.
#[derive(Clone, Debug)]
enum Op {
    Issue,
    Revoke,
    File { key: u8, amount: u64, old: bool },
    Approve { which: usize, ends: Ends },
    Dismiss { which: usize },
    List,
    Broadcast { which: usize },
}

/// How an approval ends that nothing forbids.
#[derive(Clone, Copy, Debug)]
enum Ends {
    Well,
    Unprepared,
    Declined,
    NoSigner,
    Signer(Signs),
    Unsaved,
    Unsent,
    Cut(usize),
}

fn ends() -> impl Strategy<Value = Ends> {
    prop_oneof![
        3 => Just(Ends::Well),
        1 => Just(Ends::Unprepared),
        1 => Just(Ends::Declined),
        1 => Just(Ends::NoSigner),
        1 => prop_oneof![
            Just(Signs::Error), Just(Signs::ThenError), Just(Signs::Unfinalized), Just(Signs::Corrupt)
        ].prop_map(Ends::Signer),
        1 => Just(Ends::Unsaved),
        1 => Just(Ends::Unsent),
        4 => (0..POINTS.len()).prop_map(Ends::Cut),
    ]
}

fn op() -> impl Strategy<Value = Op> {
    let amount = prop_oneof![Just(4_000), Just(10_000), Just(10_001)];
    prop_oneof![
        1 => Just(Op::Issue),
        1 => Just(Op::Revoke),
        8 => (0u8..12, amount, prop::bool::weighted(0.1))
            .prop_map(|(key, amount, old)| Op::File { key, amount, old }),
        10 => (any::<usize>(), ends()).prop_map(|(which, ends)| Op::Approve { which, ends }),
        2 => any::<usize>().prop_map(|which| Op::Dismiss { which }),
        2 => Just(Op::List),
        2 => any::<usize>().prop_map(|which| Op::Broadcast { which }),
    ]
}

/// A request as the model has it. `Cut(n)` is one that is signing and whose process died there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    Pending,
    Denied,
    Dismissed,
    Failed,
    Cut(usize),
    Unresolved,
    Unsent { marked: bool },
    Sent,
}

#[derive(Clone, Debug)]
struct Asked {
    id: RequestId,
    grant: usize,
    key: u8,
    amount: u64,
    at: At,
}

#[derive(Default)]
struct Model {
    spent: Vec<u64>,
    current: Option<usize>,
    asked: Vec<Asked>,
}

impl Model {
    fn settle(at: At) -> At {
        match at {
            At::Cut(1 | 2) => At::Unresolved,
            At::Cut(3..=5) => At::Unsent { marked: false },
            At::Cut(6) | At::Unsent { marked: true } => At::Sent,
            at => at,
        }
    }

    /// Where an approval takes a request, and whether it is an error for the person.
    fn approve(&mut self, which: usize, ends: Ends) -> bool {
        let Asked { grant, amount, at, .. } = self.asked[which].clone();
        let at = Model::settle(at);
        self.asked[which].at = at;
        if !matches!(at, At::Pending | At::Failed) {
            return true;
        }
        let left = BUDGET - self.spent[grant];
        if self.current != Some(grant) || amount > left {
            self.asked[which].at = At::Denied;
            return false;
        }
        if matches!(ends, Ends::Unprepared) {
            self.asked[which].at = At::Failed;
            return false;
        }
        if amount + FEE > left {
            self.asked[which].at = At::Denied;
            return false;
        }
        let (at, draws) = match ends {
            Ends::Well => (At::Sent, true),
            Ends::Declined | Ends::Cut(0) => return true,
            Ends::NoSigner => (At::Failed, false),
            Ends::Signer(_) | Ends::Unsaved => (At::Unresolved, true),
            Ends::Unsent => (At::Unsent { marked: false }, true),
            Ends::Cut(point) => (At::Cut(point), true),
            Ends::Unprepared => unreachable!(),
        };
        self.asked[which].at = at;
        self.spent[grant] += if draws { amount + FEE } else { 0 };
        false
    }
}

thread_local! {
    static CUT: Cell<&'static str> = const { Cell::new("") };
}

/// Ends what runs, as a crash would, at the point that was chosen.
fn reach(point: &str) {
    if CUT.get() == point {
        CUT.set("");
        std::panic::resume_unwind(Box::new("cut"));
    }
}

fn live(ops: &[Op]) {
    let dir = tempfile::tempdir().unwrap();
    let mut model = Model::default();
    let mut tokens: Vec<Token> = Vec::new();
    for op in ops {
        // Each verb in a process of its own.
        let stage = Stage::at(dir.path(), reach);
        let book = stage.book();
        match *op {
            Op::Issue => {
                tokens.push(stage.issue(&book).token);
                model.current = Some(model.spent.len());
                model.spent.push(0);
            }
            Op::Revoke => {
                let revoked = revoke(&stage.spends(&book), &agent()).is_ok();
                assert_eq!(revoked, model.current.take().is_some());
            }
            Op::File { key, amount, old } => file(&stage, &mut model, &tokens, key, amount, old),
            Op::Approve { which, ends } if !model.asked.is_empty() => {
                approve(&stage, &mut model, which, ends);
            }
            Op::Dismiss { which } if !model.asked.is_empty() => {
                let asked = {
                    let count = model.asked.len();
                    &mut model.asked[which % count]
                };
                let can = matches!(asked.at, At::Pending | At::Failed | At::Unresolved);
                let did = dismiss(&stage.spends(&book), &asked.id.to_string());
                assert_eq!(did.is_ok(), can);
                asked.at = if can { At::Dismissed } else { asked.at };
            }
            Op::List => {
                requests(&stage.spends(&book), true, &stage.wallet).unwrap();
                model.asked.iter_mut().for_each(|asked| asked.at = Model::settle(asked.at));
            }
            Op::Broadcast { which } if !model.asked.is_empty() => {
                let count = model.asked.len();
                let asked = &mut model.asked[which % count];
                if let At::Unsent { marked } = &mut asked.at {
                    let found = super::gather::request(&stage.spends(&book), asked.id).unwrap();
                    let txid = found.unwrap().paid().unwrap().txid;
                    stage.wallet.mark_broadcast(&txid).unwrap();
                    *marked = true;
                }
            }
            _ => {}
        }
        drop(book);
        compare(&stage, &model);
    }
}

fn file(stage: &Stage, model: &mut Model, tokens: &[Token], key: u8, amount: u64, old: bool) {
    let never = Token::new([0; 32]);
    let token = if old { tokens.first() } else { tokens.last() }.unwrap_or(&never);
    let filed = stage.file(&stage.book(), token, &format!("k{key}"), amount);
    let Some(current) = model.current else {
        return assert_eq!(filed.unwrap_err().code(), "no_grant");
    };
    if old && current != 0 {
        return assert_eq!(filed.unwrap_err().code(), "unauthorized");
    }
    let known = model.asked.iter().find(|asked| (asked.grant, asked.key) == (current, key));
    match known {
        Some(known) if known.amount == amount => assert_eq!(filed.unwrap().id, known.id),
        Some(_) => assert_eq!(filed.unwrap_err().code(), "idempotency_key_conflict"),
        None => {
            let inside = amount <= 10_000 && amount <= BUDGET - model.spent[current];
            let at = if inside { At::Pending } else { At::Denied };
            let id = filed.unwrap().id;
            model.asked.push(Asked { id, grant: current, key, amount, at });
        }
    }
}

fn approve(stage: &Stage, model: &mut Model, which: usize, ends: Ends) {
    let which = which % model.asked.len();
    let wrong = &stage.wrong;
    match ends {
        Ends::Well => {}
        Ends::Unprepared => wrong.unprepared.set(true),
        Ends::Declined => wrong.declines.set(true),
        Ends::NoSigner => wrong.no_signer.set(true),
        Ends::Signer(signs) => wrong.signs.set(signs),
        Ends::Unsaved => wrong.unsaved.set(true),
        Ends::Unsent => wrong.unsent.set(true),
        Ends::Cut(point) => CUT.set(POINTS[point]),
    }
    let book = stage.book();
    let id = model.asked[which].id;
    let came = catch_unwind(AssertUnwindSafe(|| stage.approve(&book, id).is_err()));
    CUT.set("");
    let failed = model.approve(which, ends);
    match came {
        Ok(errs) => assert_eq!(errs, failed, "{ends:?}"),
        // A process that dies leaves its lock file.
        Err(_) => book.acts.keep(),
    }
}

/// What the rows and the wallet say is what the model says.
fn compare(stage: &Stage, model: &Model) {
    let book = stage.book();
    for asked in &model.asked {
        let (status, left) = stage.stands(&book, asked.id);
        let expected = match asked.at {
            At::Pending => "pending_approval",
            At::Denied => "denied",
            At::Dismissed => "dismissed",
            At::Failed => "failed",
            At::Cut(_) => "signing",
            At::Unresolved => "unresolved",
            At::Unsent { .. } => "broadcast_pending",
            At::Sent => "sent",
        };
        assert_eq!((status, left), (expected, BUDGET - model.spent[asked.grant]));
    }
    // Whose signatures there are.
    let mut signers: BTreeMap<String, String> = BTreeMap::new();
    let rows = stage.kinds().len();
    for seq in (1..).take(rows + 1) {
        let row = book.ledger.row(seq).unwrap().unwrap();
        if let Event::SpendSigning(signing) = &row.event {
            signers.insert(signing.txid.to_string(), row.refs[0].0.to_string());
        }
    }
    let signatures = stage.wallet.signatures();
    let mut signed: Vec<&String> = signatures.iter().map(|txid| &signers[txid]).collect::<Vec<_>>();
    let count = signed.len();
    signed.sort();
    signed.dedup();
    assert_eq!(signed.len(), count, "a request was signed for twice");
    let mut seen = stage.wallet.seen();
    let count = seen.len();
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), count, "a transaction was handed to the network twice");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn lives_are_as_the_model_has_them(ops in prop::collection::vec(op(), 1..40)) {
        let mut begun = vec![Op::Issue];
        begun.extend(ops);
        live(&begun);
    }
}
