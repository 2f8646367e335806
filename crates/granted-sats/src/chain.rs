//! The chain, as a provider tells it.
//!
//! A provider is believed only as far as it must be: it may hide a payment to the wallet, or make one up,
//! which lasts until another provider is looked at from the beginning. But what the wallet signs is checked
//! against what was asked for, never against what a provider says.

mod core;
mod electrum;
mod esplora;
mod fees;
mod live;

use std::sync::Arc;
use std::time::Duration;

use bdk_wallet::bitcoin::absolute::LOCK_TIME_THRESHOLD;
use bdk_wallet::bitcoin::{BlockHash, Transaction};
use bdk_wallet::chain::spk_client::FullScanRequestBuilder;
use bdk_wallet::chain::{ChainPosition, SpkIterator};
use bdk_wallet::{KeychainKind, Update};
use granted_core::spend::Network;

use crate::config::{Entry, Kind};
use crate::network;
use crate::wallet::{FIRST_LOOK, State, Wallet, WalletError};
pub use fees::{MAX_RATE, rate};
pub use live::{Live, Providers};

/// How long one request may take.
pub(crate) const REQUEST: Duration = Duration::from_secs(30);

/// How many addresses in a row may be unused before a full scan ends.
pub(crate) const STOP_GAP: usize = 20;

/// Where the chain is asked.
pub trait Provider {
    /// Scheme, host and port of its URL: all of it that is ever shown.
    fn origin(&self) -> &str;

    /// The hash of the block that it knows at a height.
    fn block(&self, height: u32) -> Result<BlockHash, ProviderError>;

    /// The height of the last block that it knows.
    fn tip(&self) -> Result<u32, ProviderError>;

    /// Has the wallet know what the provider knows, durably.
    fn update(&self, wallet: &Wallet, now: u64, progress: &Progress) -> Result<(), SyncError>;

    /// What the network takes for a confirmation within so many blocks, in sat/vB.
    fn fee(&self, target: u16) -> Result<f64, ProviderError>;

    /// Hands a transaction over, once. `Ok` only where the answer is its id; after an error it may have
    /// arrived or not.
    fn broadcast(&self, transaction: &Transaction) -> Result<(), ProviderError>;
}

/// Told as a sync goes on.
pub type Progress = Arc<dyn Fn(Step) + Send + Sync>;

/// How far a sync is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// So many addresses were asked for.
    Addresses(u64),
    /// A block was read, of so many.
    Block(u32, u32),
}

/// A provider did not answer, or not with what it was asked for. Neither a path nor a query of its URL,
/// nor anything that it said, is in it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{origin}` {why}")]
pub struct ProviderError {
    /// Scheme, host and port.
    pub origin: String,
    /// What is wrong, to be read after the origin.
    pub why: String,
}

/// Why the wallet does not know what the chain is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SyncError {
    /// The provider.
    #[error(transparent)]
    Provider(#[from] ProviderError),
    /// It serves another network.
    #[error("`{origin}` serves another network than {network}: its first block is {genesis}")]
    Elsewhere {
        /// The provider.
        origin: String,
        /// The wallet's network.
        network: Network,
        /// What the provider has.
        genesis: BlockHash,
    },
    /// It does not know what the wallet knows.
    #[error("`{origin}` is behind: its last block is {its}, and this wallet has seen {seen}")]
    Behind {
        /// The provider.
        origin: String,
        /// Its last block.
        its: u32,
        /// What the wallet has seen.
        seen: u32,
    },
    /// The wallet.
    #[error(transparent)]
    Wallet(#[from] WalletError),
}

/// The provider of an entry of the config.
pub fn provider(entry: &Entry) -> Result<Box<dyn Provider>, ProviderError> {
    Ok(match entry.kind {
        Kind::Esplora => Box::new(esplora::Esplora::new(entry)),
        Kind::Electrum => Box::new(electrum::Electrum::new(entry)?),
        Kind::Core => Box::new(core::Core::new(entry)?),
    })
}

/// Has a wallet know what a provider knows; a provider of another network, or one that does not know a
/// payment that the wallet saw confirmed, is not believed.
pub fn sync(
    wallet: &Wallet,
    provider: &dyn Provider,
    now: u64,
    progress: &Progress,
) -> Result<(), SyncError> {
    let origin = || provider.origin().to_owned();
    let genesis = provider.block(0)?;
    let network = wallet.network();
    if genesis != network::genesis(network) {
        return Err(SyncError::Elsewhere { origin: origin(), network, genesis });
    }
    let state = wallet.state()?;
    let (its, seen) = (provider.tip()?, state.latest_checkpoint().height());
    // Of such a height no transaction can speak: it is a lie.
    if its >= LOCK_TIME_THRESHOLD {
        let why = "tells of a block of a height that cannot be".into();
        return Err(ProviderError { origin: origin(), why }.into());
    }
    if its < seen {
        if !takes_nothing_back(&state, provider, its)? {
            return Err(SyncError::Behind { origin: origin(), its, seen });
        }
        wallet.forget_above(its)?;
    }
    provider.update(wallet, now, progress)
}

/// Whether a provider that has fewer blocks than the wallet saw has all that concerns the wallet: the
/// same block where they meet, and none of the wallet's transactions above it. Then the blocks above may
/// as well have been an earlier provider's lie, and to forget them forgets no payment.
fn takes_nothing_back(
    state: &State,
    provider: &dyn Provider,
    its: u32,
) -> Result<bool, ProviderError> {
    let Some(shared) = state.latest_checkpoint().iter().find(|seen| seen.height() <= its) else {
        return Ok(false);
    };
    let is_above = |tx: &bdk_wallet::WalletTx<'_>| match &tx.chain_position {
        ChainPosition::Confirmed { anchor, .. } => anchor.block_id.height > shared.height(),
        ChainPosition::Unconfirmed { .. } => false,
    };
    Ok(!state.transactions().any(|tx| is_above(&tx))
        && provider.block(shared.height())? == shared.hash())
}

/// What a first look asks for.
fn first_look(state: &State, now: u64) -> FullScanRequestBuilder<KeychainKind> {
    let kinds = [KeychainKind::External, KeychainKind::Internal];
    kinds.into_iter().fold(state.start_full_scan_at(now), |request, kind| {
        let descriptor = state.public_descriptor(kind).clone();
        request.spks_for_keychain(kind, SpkIterator::new_with_range(descriptor, 0..FIRST_LOOK))
    })
}

impl Wallet {
    /// Notes what a provider told, durably, in the state as it is by now.
    fn apply(&self, update: Update, origin: &str) -> Result<(), SyncError> {
        self.change(|state| {
            let applied = state.apply_update(update);
            applied.map_err(|_| {
                let why = "tells of a chain that does not connect to what this wallet has seen";
                SyncError::Provider(trouble(origin, why))
            })
        })
    }
}

/// Of a certificate that does not hold.
const UNSAFE: &str = "cannot be reached safely: its certificate is not for this name, or not signed by a \
                      public authority";

/// Why no answer came, to be read after the origin.
fn unreached(error: &std::io::Error) -> String {
    match error.kind() {
        // TLS puts it so.
        std::io::ErrorKind::InvalidData => UNSAFE.to_owned(),
        std::io::ErrorKind::FileTooLarge => "answers without end".to_owned(),
        _ => {
            let why = granted_store::open::in_words(error);
            format!("cannot be reached, or does not answer in time: {why}")
        }
    }
}

/// An error of the provider at this origin.
fn trouble(origin: &str, why: impl Into<String>) -> ProviderError {
    ProviderError { origin: origin.to_owned(), why: why.into() }
}
