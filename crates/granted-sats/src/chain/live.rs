//! The chain of one wallet, with a provider for each thing.

use bdk_wallet::bitcoin::{FeeRate, Transaction, consensus};
use granted_core::spend::agent::{Address, Txid};
use granted_core::spend::chain::{self, Chain, Prepared};
use granted_core::spend::{Network, Sats};

use super::{Progress, Provider, ProviderError, SyncError, provider, rate, sync};
use crate::config::{Capability, Config, Entry};
use crate::network;
use crate::prepare::{self, Order, PrepareError, Ready};
use crate::wallet::{State, Wallet};

/// Which providers a wallet has.
#[derive(Clone, Debug)]
pub struct Providers {
    /// The config.
    pub config: Config,
    /// What was given for this once, in the place of all of the config's.
    pub given: Vec<Entry>,
}

/// A wallet and its providers. None is connected to before it is needed.
pub struct Live {
    /// The wallet.
    pub wallet: Wallet,
    /// Its providers.
    pub providers: Providers,
    /// The time, in seconds.
    pub now: u64,
    /// Told as a sync goes on.
    pub progress: Progress,
}

impl Live {
    fn network(&self) -> Network {
        self.wallet.network()
    }

    fn provider(&self, capability: Capability) -> Result<Box<dyn Provider>, PrepareError> {
        let Providers { config, given } = &self.providers;
        let chosen = config.choose(self.network(), given, capability)?;
        Ok(provider(&chosen.entry).map_err(SyncError::from)?)
    }

    /// Has the wallet know what the chain is.
    pub fn sync(&self) -> Result<(), PrepareError> {
        let provider = self.provider(Capability::Sync)?;
        Ok(sync(&self.wallet, &*provider, self.now, &self.progress)?)
    }

    /// Makes a payment ready on fresh chain state. Nothing is kept of it: the change address is taken
    /// only where `keep` says so.
    pub fn ready(
        &self,
        order: &Order,
        fee_rate: Option<FeeRate>,
        keep: bool,
    ) -> Result<Ready, PrepareError> {
        self.sync()?;
        prepare::keep_back(&self.wallet.state()?, order.allow_dust)?;
        let rate = self.rate(fee_rate)?;
        let build = |state: &mut State| {
            let held = self.wallet.held(state)?;
            prepare::build(state, order, rate, self.network(), held)
        };
        match keep {
            true => self.wallet.change(build),
            false => build(&mut self.wallet.state()?),
        }
    }

    fn rate(&self, given: Option<FeeRate>) -> Result<FeeRate, PrepareError> {
        if let Some(given) = given {
            return Ok(given);
        }
        let provider = self.provider(Capability::Fees)?;
        let target = self.providers.config.target(self.network());
        Ok(rate(&*provider, target).map_err(SyncError::from)?)
    }

    /// Hands a transaction over, once, and notes in the wallet that it is on its way. `Ok` only where the
    /// provider answered with its id.
    pub fn send(&self, transaction: &Transaction) -> Result<(), PrepareError> {
        let provider = self.provider(Capability::Broadcast)?;
        provider.broadcast(transaction).map_err(SyncError::from)?;
        self.wallet.change(|state| {
            // Times are in seconds: one that is replaced in the second it was seen in has to go first.
            let replaced = state.tx_graph().direct_conflicts(transaction);
            let seen = |txid| state.tx_graph().get_tx_node(txid).and_then(|node| node.last_seen);
            let gone = |txid| (txid, seen(txid).unwrap_or(0).max(self.now));
            let replaced: Vec<_> = replaced.map(|(_, txid)| gone(txid)).collect();
            state.apply_evicted_txs(replaced);
            state.apply_unconfirmed_txs([(transaction.clone(), self.now)]);
            Ok(())
        })
    }
}

impl Chain for Live {
    fn prepare(&self, recipient: &Address, amount: Sats) -> Result<Prepared, String> {
        let recipient = network::address(self.network(), recipient.as_str());
        let recipient = recipient.map_err(|e| e.to_string())?;
        let amount = bdk_wallet::bitcoin::Amount::from_sat(amount.to_u64());
        let order = Order { recipient, amount, allow_dust: false, instead_of: None };
        let ready = self.ready(&order, None, true).map_err(|e| e.to_string())?;
        prepared(&ready)
    }

    fn broadcast(&self, transaction: &chain::Transaction) -> Result<(), String> {
        let decoded = consensus::deserialize(&transaction.bytes).map_err(|e| e.to_string())?;
        self.send(&decoded).map_err(|e| e.to_string())
    }
}

/// As plain data.
fn prepared(ready: &Ready) -> Result<Prepared, String> {
    let sats = |amount: bdk_wallet::bitcoin::Amount| Sats::new(amount.to_sat());
    let plain = || {
        Some(Prepared {
            recipient: Address::new(ready.payment.recipient.to_string()).ok()?,
            amount: sats(ready.payment.amount)?,
            fee: sats(ready.payment.fee)?,
            txid: Txid::new(ready.psbt.unsigned_tx.compute_txid().to_string()).ok()?,
            psbt: ready.psbt.serialize(),
        })
    };
    plain().ok_or_else(|| "the transaction cannot be told in plain words".to_owned())
}

impl From<ProviderError> for PrepareError {
    fn from(error: ProviderError) -> PrepareError {
        SyncError::from(error).into()
    }
}
