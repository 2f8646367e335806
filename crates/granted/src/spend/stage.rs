//! A wallet for tests of the pipelines: a chain, a signer and saved transactions in files, so that threads
//! and processes share them; a person who says yes; and whatever goes wrong on demand.
#![allow(clippy::disallowed_methods)]

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use granted_core::digest::Digest;
use granted_core::ledger::{By, Door};
use granted_core::spend::chain::{
    Addresses, Chain, Key, Order, Origin, Prepared, Signed, Signer, Transaction, Transactions, Turn,
};
use granted_core::spend::change::Terms;
use granted_core::spend::file::FileError;
use granted_core::spend::{
    Address, AgentName, Mode, Network, Request, RequestId, Sats, State, Token, Txid,
};
use granted_core::time::Stamp;
use granted_store::{FileDocuments, FileLedger};
use granted_testkit::{FaultyLedger, FixedClock};

use super::approve::{Approved, Hands, Person, Review, approve};
use super::file::{Asked, Session, file};
use super::issue::{Issued, issue};
use super::{SpendError, Spends, gather};
use crate::book::Book;
use crate::home::Home;
use crate::ledger::verify::verify;

pub const ADDRESS: &str = "tb1pvlnw9n2zuefmxzwmuz0763uajw8nmaattkhd8002g3ekejjspxtshu2q9n";

pub fn sats(number: u64) -> Sats {
    Sats::new(number).unwrap()
}

pub fn agent() -> AgentName {
    "claude".parse().unwrap()
}

/// What the signer does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signs {
    Well,
    Error,
    ThenError,
    Unfinalized,
    Corrupt,
}

/// What goes wrong, and what is asked of whom.
pub struct Wrong {
    pub fee: Cell<u64>,
    pub unprepared: Cell<bool>,
    pub lies: Cell<bool>,
    pub no_turn: Cell<bool>,
    pub no_signer: Cell<bool>,
    pub signs: Cell<Signs>,
    pub unsaved: Cell<bool>,
    pub unsent: Cell<bool>,
    pub declines: Cell<bool>,
    pub wrong_password: Cell<bool>,
    /// Happens while the person is asked for the password.
    pub meanwhile: RefCell<Option<Box<dyn FnOnce()>>>,
    pub chains: Cell<u32>,
    pub reviews: Cell<u32>,
    pub passwords: Cell<u32>,
    pub signers: Cell<u32>,
    /// Is told of each point that is reached.
    pub reach: fn(&str),
}

impl Default for Wrong {
    fn default() -> Wrong {
        Wrong {
            fee: Cell::new(200),
            unprepared: Cell::default(),
            lies: Cell::default(),
            no_turn: Cell::default(),
            no_signer: Cell::default(),
            signs: Cell::new(Signs::Well),
            unsaved: Cell::default(),
            unsent: Cell::default(),
            declines: Cell::default(),
            wrong_password: Cell::default(),
            meanwhile: RefCell::default(),
            chains: Cell::default(),
            reviews: Cell::default(),
            passwords: Cell::default(),
            signers: Cell::default(),
            reach: |_| {},
        }
    }
}

fn count(cell: &Cell<u32>) {
    cell.set(cell.get() + 1);
}

/// Reads addresses that begin as those of signet do.
pub struct Spelling;

impl Addresses for Spelling {
    fn canonical(&self, text: &str, network: Network) -> Result<Address, String> {
        let lower = text.to_lowercase();
        match lower.starts_with("tb1p") && network == Network::Signet {
            true => lower.parse().map_err(|_| "it is no address".into()),
            false => Err(format!("it is no address of {network}")),
        }
    }
}

/// The files of the wallet: what was signed, what was saved, what the network has.
#[derive(Clone)]
pub struct Wallet(PathBuf);

impl Wallet {
    fn note(&self, file: &str, line: &str) {
        let path = self.0.join(file);
        let mut file = OpenOptions::new().create(true).append(true).open(path).unwrap();
        file.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    pub fn lines(&self, file: &str) -> Vec<String> {
        let text = fs::read_to_string(self.0.join(file)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// The intents that were signed for, once each time.
    pub fn signatures(&self) -> Vec<String> {
        self.lines("signatures")
    }

    /// The transactions that the node has seen.
    pub fn seen(&self) -> Vec<String> {
        self.lines("node")
    }
}

impl Wallet {
    /// A wallet that nothing was ever saved in.
    pub fn none() -> Wallet {
        Wallet("/nonexistent".into())
    }
}

impl Transactions for Wallet {
    fn turn(&self) -> Result<Turn, String> {
        Ok(Turn::new(()))
    }

    fn save(&self, transaction: &Transaction) -> Result<(), String> {
        let origin = transaction.origin.as_ref().unwrap();
        let text = [
            transaction.txid.to_string(),
            transaction.recipient.to_string(),
            transaction.amount.to_u64().to_string(),
            transaction.fee.to_u64().to_string(),
            origin.agent.to_string(),
            origin.intent.to_string(),
            transaction.created_at.to_string(),
        ];
        let (new, path) = (self.0.join("new"), self.0.join(origin.request.to_string()));
        fs::write(&new, text.join(" ")).map_err(|e| e.to_string())?;
        fs::rename(new, path).map_err(|e| e.to_string())
    }

    fn of_request(&self, origin: &Origin) -> Result<Option<Transaction>, String> {
        let Ok(text) = fs::read_to_string(self.0.join(origin.request.to_string())) else {
            return Ok(None);
        };
        let parts: Vec<&str> = text.split(' ').collect();
        let [txid, recipient, amount, fee, agent, intent, at] = parts[..] else {
            return Err(format!("`{text}` is no transaction"));
        };
        let same = agent == origin.agent.as_str() && intent == origin.intent.to_string();
        Ok(same.then(|| Transaction {
            txid: txid.parse().unwrap(),
            network: Network::Signet,
            recipient: recipient.parse().unwrap(),
            amount: sats(amount.parse().unwrap()),
            fee: sats(fee.parse().unwrap()),
            created_at: Stamp::parse(at).unwrap(),
            is_broadcast: self.lines("broadcast").iter().any(|line| line == txid),
            bytes: txid.as_bytes().to_vec(),
            origin: Some(origin.clone()),
        }))
    }

    fn mark_broadcast(&self, txid: &Txid) -> Result<(), String> {
        self.note("broadcast", txid.as_str());
        Ok(())
    }
}

/// Prepares what it is asked for, and counts what it is handed.
struct FakeChain(Wallet, Rc<Wrong>);

impl Chain for FakeChain {
    fn prepare(&self, recipient: &Address, amount: Sats) -> Result<Prepared, String> {
        if self.1.unprepared.get() {
            return Err("the provider did not answer".into());
        }
        let nonce = granted_store::entropy::hex::<16>().unwrap();
        let txid = Digest::of(format!("{recipient} {} {nonce}", amount.to_u64()).as_bytes());
        let recipient = match self.1.lies.get() {
            true => "tb1pthief".parse().unwrap(),
            false => recipient.clone(),
        };
        let txid: Txid = txid.to_string().parse().unwrap();
        let psbt = txid.as_str().as_bytes().to_vec();
        Ok(Prepared { recipient, amount, fee: sats(self.1.fee.get()), txid, psbt })
    }

    fn broadcast(&self, transaction: &Transaction) -> Result<(), String> {
        (self.1.reach)("before broadcast");
        let origin = transaction.origin.as_ref().unwrap();
        self.0.note("node", &format!("{} {}", origin.request, transaction.txid));
        (self.1.reach)("after broadcast");
        // It arrived, and the answer is lost.
        if self.1.unsent.get() { Err("the provider did not answer".into()) } else { Ok(()) }
    }
}

struct FakeKey(Wallet, Rc<Wrong>);

impl Key for FakeKey {
    fn signer(self: Box<Self>, _: &Prepared) -> Result<Box<dyn Signer>, String> {
        (self.1.reach)("before signing");
        if self.1.no_signer.get() {
            return Err("the signer cannot be made".into());
        }
        count(&self.1.signers);
        Ok(Box::new(FakeSigner(self.0, self.1)))
    }
}

struct FakeSigner(Wallet, Rc<Wrong>);

impl Signer for FakeSigner {
    fn sign(self: Box<Self>, order: Order<'_>) -> Result<Signed, String> {
        let (txid, bytes) = (order.txid().clone(), order.psbt().to_vec());
        let signed = self.1.signs.get();
        if matches!(signed, Signs::Well | Signs::ThenError | Signs::Corrupt) {
            self.0.note("signatures", txid.as_str());
        }
        (self.1.reach)("after signing");
        match signed {
            Signs::Well => Ok(Signed::Finalized { txid, bytes }),
            Signs::Error | Signs::ThenError => Err("the signer fell over".into()),
            Signs::Unfinalized => Ok(Signed::Unfinalized),
            Signs::Corrupt => {
                let txid = "0".repeat(64).parse().unwrap();
                Ok(Signed::Finalized { txid, bytes })
            }
        }
    }
}

/// Saves as the wallet does, or not.
struct Saves(Wallet, Rc<Wrong>);

impl Transactions for Saves {
    fn turn(&self) -> Result<Turn, String> {
        match self.1.no_turn.get() {
            true => Err("the wallet cannot be locked".into()),
            false => self.0.turn(),
        }
    }

    fn save(&self, transaction: &Transaction) -> Result<(), String> {
        if self.1.unsaved.get() {
            return Err("the disk is full".into());
        }
        self.0.save(transaction)?;
        (self.1.reach)("after saving");
        Ok(())
    }

    fn of_request(&self, origin: &Origin) -> Result<Option<Transaction>, String> {
        self.0.of_request(origin)
    }

    fn mark_broadcast(&self, txid: &Txid) -> Result<(), String> {
        self.0.mark_broadcast(txid)?;
        (self.1.reach)("after marking");
        Ok(())
    }
}

/// Where an approval may be cut off, in order.
pub const POINTS: [&str; 7] = [
    "before the row",
    "before signing",
    "after signing",
    "after saving",
    "before broadcast",
    "after broadcast",
    "after marking",
];

struct Owner(Wallet, Rc<Wrong>);

impl Person for Owner {
    fn review(&mut self, review: &Review<'_>) -> Result<bool, String> {
        count(&self.1.reviews);
        assert_eq!(review.total, review.request.filed.amount_sat.plus(review.fee).unwrap());
        Ok(!self.1.declines.get())
    }

    fn unlock(&mut self) -> Result<Box<dyn Key>, String> {
        count(&self.1.passwords);
        if let Some(meanwhile) = self.1.meanwhile.take() {
            meanwhile();
        }
        if self.1.wrong_password.get() {
            return Err("the password is wrong".into());
        }
        (self.1.reach)("before the row");
        Ok(Box::new(FakeKey(self.0.clone(), self.1.clone())))
    }
}

/// A home with a wallet in it.
pub struct Stage {
    root: PathBuf,
    _dir: Option<tempfile::TempDir>,
    pub clock: Arc<FixedClock>,
    pub wrong: Rc<Wrong>,
    pub wallet: Wallet,
    sessions: RefCell<HashMap<String, Rc<Session>>>,
}

impl Stage {
    pub fn new() -> Stage {
        let dir = tempfile::tempdir().unwrap();
        let stage = Stage::at(dir.path(), |_| {});
        Stage { _dir: Some(dir), ..stage }
    }

    /// In this folder, in which another may be.
    pub fn at(root: &Path, reach: fn(&str)) -> Stage {
        let wallet = Wallet(root.join("wallet"));
        fs::create_dir_all(&wallet.0).unwrap();
        let wrong = Rc::new(Wrong { reach, ..Wrong::default() });
        let (clock, sessions) = Default::default();
        Stage { root: root.to_owned(), _dir: None, clock, wrong, wallet, sessions }
    }

    pub fn sats(&self) -> PathBuf {
        self.root.join("home/sats")
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The book as a new process opens it, and its ledger, whose appends may be made to go wrong.
    pub fn faulty(&self) -> (Book, Arc<FaultyLedger>) {
        let home = Home::at(self.root.join("home"));
        let by = By { agent: None, door: Door::Library, host: "box".into(), uid: 0 };
        let file = FileLedger::new(home.ledger(), self.clock.clone(), by);
        // Polling is not fair, and many wait here.
        let file = file.with_patience(Duration::from_secs(100));
        let ledger = Arc::new(FaultyLedger::new(Arc::new(file)));
        let documents = Arc::new(FileDocuments::new(home.documents()));
        let book = Book::with(home, Door::Library, ledger.clone(), documents, self.clock.clone());
        (book, ledger)
    }

    pub fn book(&self) -> Book {
        self.faulty().0
    }

    pub fn spends<'b>(&self, book: &'b Book) -> Spends<'b> {
        Spends::new(book, Network::Signet, &self.sats())
    }

    /// A budget of 50,000 sat for a day.
    pub fn terms(&self) -> Terms {
        Terms {
            agent: agent(),
            network: Network::Signet,
            budget: sats(50_000),
            lasts: Duration::from_secs(86_400),
            max_tx: Some(sats(10_000)),
            max_fee: None,
            mode: Mode::Ask,
            recipients: None,
        }
    }

    pub fn issue(&self, book: &Book) -> Issued {
        issue(&self.spends(book), &self.terms(), || Ok(())).unwrap()
    }

    pub fn file(
        &self,
        book: &Book,
        token: &Token,
        key: &str,
        amount: u64,
    ) -> Result<Request, FileError> {
        self.file_to(book, token, key, amount, ADDRESS)
    }

    /// The session of the agent's server that has this token, which lasts as long as the stage.
    fn session(&self, token: &Token) -> Rc<Session> {
        let new = || Rc::new(Session::new(agent(), token.clone()));
        self.sessions.borrow_mut().entry(token.reveal()).or_insert_with(new).clone()
    }

    pub fn file_to(
        &self,
        book: &Book,
        token: &Token,
        key: &str,
        amount: u64,
        address: &str,
    ) -> Result<Request, FileError> {
        let session = self.session(token);
        let asked = Asked { address, amount: sats(amount), key };
        file(&self.spends(book), &session, &asked, &Spelling)
    }

    pub fn approve(&self, book: &Book, id: RequestId) -> Result<Approved, SpendError> {
        let (wallet, wrong) = (self.wallet.clone(), self.wrong.clone());
        let mut chain = || {
            count(&wrong.chains);
            Ok(Box::new(FakeChain(wallet.clone(), wrong.clone())) as Box<dyn Chain>)
        };
        let transactions = Saves(wallet.clone(), wrong.clone());
        let mut person = Owner(wallet.clone(), wrong.clone());
        let mut hands =
            Hands { chain: &mut chain, transactions: &transactions, person: &mut person };
        approve(&self.spends(book), &id.to_string(), &mut hands)
    }

    /// Where a request stands, and what its budget has left.
    pub fn stands(&self, book: &Book, id: RequestId) -> (&'static str, u64) {
        let spends = self.spends(book);
        let request = gather::request(&spends, id).unwrap().unwrap();
        let grant = gather::grant(&spends, &request.filed.grant_id).unwrap().unwrap();
        (request.state.status(), grant.remaining().to_u64())
    }

    /// The kinds of the rows of spends, of a ledger that must be whole.
    pub fn kinds(&self) -> Vec<String> {
        let book = self.book();
        let found = verify(&*book.ledger, &mut |_| {}).unwrap();
        assert_eq!(found.fault, None);
        let kind = |seq| book.ledger.row(seq).unwrap().unwrap().event.kind();
        let kinds = (1..=found.rows).filter_map(|seq| kind(seq).strip_prefix("spend."));
        kinds.map(str::to_owned).collect()
    }
}

/// Why a request was denied.
pub fn denied(request: &Request) -> &'static str {
    match &request.state {
        State::Denied(deny) => deny.reason(),
        state => state.status(),
    }
}
