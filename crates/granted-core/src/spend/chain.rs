//! What a wallet does for a request, as traits over plain data. The wallet itself is another crate.

use std::any::Any;

use super::agent::{Address, Txid};
use super::{AgentName, IntentDigest, Network, RequestId, Sats};
use crate::time::Stamp;

/// Reads addresses.
pub trait Addresses {
    /// The one spelling of an address of this network; what is wrong with it otherwise. No chain, no
    /// disk.
    fn canonical(&self, text: &str, network: Network) -> Result<Address, String>;
}

/// The chain as the wallet sees it.
pub trait Chain {
    /// Prepares a payment on fresh chain state, without any bypass of the wallet's own guards, and keeps
    /// the change address that it takes. After an error there is nothing to sign.
    fn prepare(&self, recipient: &Address, amount: Sats) -> Result<Prepared, String>;

    /// Hands a finalized transaction to the network, once. `Ok` only where the provider answered with
    /// its id; after an error it may have arrived or not.
    fn broadcast(&self, transaction: &Transaction) -> Result<(), String>;
}

/// A payment that could be signed. Everything but the PSBT is derived from the PSBT, by the wallet's own
/// descriptors, and nothing from what was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prepared {
    /// The one recipient.
    pub recipient: Address,
    /// What the recipient gets.
    pub amount: Sats,
    /// What the inputs have beyond the outputs.
    pub fee: Sats,
    /// The id that the transaction has, signed or not.
    pub txid: Txid,
    /// The PSBT, unsigned.
    pub psbt: Vec<u8>,
}

/// The person's key, opened by the password. It signs nothing yet.
pub trait Key {
    /// Makes a signer for what was prepared, once a row says that it may be signed. The last look before
    /// the signature: that the payment is what it was when it was reviewed, and its coins are free.
    fn signer(self: Box<Self>, prepared: &Prepared) -> Result<Box<dyn Signer>, String>;
}

/// Signs one PSBT. What it answers is never taken to mean that there is no signature.
pub trait Signer {
    /// Signs. The transaction that comes of it, where it is whole.
    fn sign(self: Box<Self>, order: Order<'_>) -> Result<Signed, String>;
}

/// What a signer may sign. Only a claim makes one.
#[derive(Debug)]
pub struct Order<'a> {
    pub(super) psbt: &'a [u8],
    pub(super) txid: &'a Txid,
}

impl Order<'_> {
    /// The PSBT.
    pub fn psbt(&self) -> &[u8] {
        self.psbt
    }

    /// The id of the transaction that it is to become.
    pub fn txid(&self) -> &Txid {
        self.txid
    }
}

/// What came of signing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Signed {
    /// The whole transaction, as the network takes it.
    Finalized {
        /// Its id, computed from its bytes.
        txid: Txid,
        /// Its bytes.
        bytes: Vec<u8>,
    },
    /// A signature is missing.
    Unfinalized,
}

/// Held while a payment is signed. Another one is signed once this is dropped, or its process has ended.
#[must_use = "one that is dropped at once keeps nobody out"]
pub struct Turn {
    _ends_with: Box<dyn Any>,
}

impl Turn {
    /// One that ends with this.
    pub fn new(ends_with: impl Any) -> Turn {
        Turn { _ends_with: Box::new(ends_with) }
    }
}

/// The transactions that the wallet keeps.
pub trait Transactions {
    /// Waits until nobody else signs with the wallet. To be held from the last look at the coins of a
    /// payment until its transaction is kept: whoever looks next finds it.
    fn turn(&self) -> Result<Turn, String>;

    /// Keeps a finalized transaction, durably.
    fn save(&self, transaction: &Transaction) -> Result<(), String>;

    /// The transaction that was made for this request: all three parts of its origin are the same.
    fn of_request(&self, origin: &Origin) -> Result<Option<Transaction>, String>;

    /// Notes that the network has it.
    fn mark_broadcast(&self, txid: &Txid) -> Result<(), String>;
}

/// A finalized transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transaction {
    /// Its id.
    pub txid: Txid,
    /// Its network.
    pub network: Network,
    /// Whom it pays.
    pub recipient: Address,
    /// How much.
    pub amount: Sats,
    /// Its fee.
    pub fee: Sats,
    /// When it was signed.
    pub created_at: Stamp,
    /// Whether the network has it, as far as anybody noted.
    pub is_broadcast: bool,
    /// Its bytes, as the network takes them.
    pub bytes: Vec<u8>,
    /// The request that it was made for; `None` for the person's own.
    pub origin: Option<Origin>,
}

/// For what a transaction was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The agent that asked.
    pub agent: AgentName,
    /// Its request.
    pub request: RequestId,
    /// What it asked for.
    pub intent: IntentDigest,
}
