//! Electrum: a server that indexes the chain by script.

mod wire;

use std::sync::atomic::{AtomicU64, Ordering};

use bdk_electrum::BdkElectrumClient;
use bdk_electrum::electrum_client::raw_client::RawClient;
use bdk_electrum::electrum_client::{ElectrumApi as _, Error};
use bdk_wallet::bitcoin::{BlockHash, Transaction};
use bdk_wallet::{KeychainKind, Update};

use super::{
    Progress, Provider, ProviderError, REQUEST, STOP_GAP, Step, SyncError, first_look, trouble,
    unreached,
};
use crate::config::{Entry, origin};
use crate::wallet::Wallet;
use wire::{Limits, Wire};

/// How many scripts are asked for in one request.
const BATCH: usize = 20;

/// What one answer may take. The longest are whole histories of addresses.
const LIMITS: Limits = Limits { time: REQUEST, size: 64 << 20 };

/// An Electrum server.
pub(super) struct Electrum {
    origin: String,
    client: BdkElectrumClient<RawClient<Wire>>,
}

impl Electrum {
    pub(super) fn new(entry: &Entry) -> Result<Electrum, ProviderError> {
        let origin = origin(&entry.url).to_owned();
        let place = entry.url.trim_start_matches("tcp://").trim_end_matches('/');
        let wire = Wire::connect(place, LIMITS).map_err(|e| trouble(&origin, unreached(&e)))?;
        // Nothing is done again, since a broadcast would be too.
        let client = RawClient::from(wire);
        // The first thing that is said.
        client.protocol_version().map_err(|e| error(&origin, &e))?;
        Ok(Electrum { origin, client: BdkElectrumClient::new(client) })
    }

    fn error(&self, why: &Error) -> ProviderError {
        error(&self.origin, why)
    }
}

fn error(origin: &str, error: &Error) -> ProviderError {
    let why = match error {
        Error::IOError(e) => unreached(e),
        Error::SharedIOError(e) => unreached(e),
        Error::Protocol(_) => "refuses what it is asked for".to_owned(),
        _ => "does not answer as an Electrum server".to_owned(),
    };
    trouble(origin, why)
}

impl Provider for Electrum {
    fn origin(&self) -> &str {
        &self.origin
    }

    fn block(&self, height: u32) -> Result<BlockHash, ProviderError> {
        let height = usize::try_from(height).unwrap_or(usize::MAX);
        let header = self.client.inner.block_header(height).map_err(|e| self.error(&e))?;
        Ok(header.block_hash())
    }

    fn tip(&self) -> Result<u32, ProviderError> {
        let tip = self.client.inner.block_headers_subscribe().map_err(|e| self.error(&e))?;
        let strange = |_| trouble(&self.origin, "does not answer as an Electrum server");
        u32::try_from(tip.height).map_err(strange)
    }

    fn update(&self, wallet: &Wallet, now: u64, progress: &Progress) -> Result<(), SyncError> {
        let state = wallet.state()?;
        self.client.populate_tx_cache(state.tx_graph().full_txs().map(|node| node.tx));
        let told = progress.clone();
        let count = AtomicU64::new(0);
        let tell = move || told(Step::Addresses(count.fetch_add(1, Ordering::Relaxed) + 1));
        let update: Update = if state.latest_checkpoint().height() == 0 {
            let request = first_look(&state, now);
            let request = request.inspect(move |_: KeychainKind, _, _| tell());
            let scanned = self.client.full_scan(request, STOP_GAP, BATCH, false);
            scanned.map_err(|e| self.error(&e))?.into()
        } else {
            let request = state.start_sync_with_revealed_spks_at(now);
            let request = request.inspect(move |_, _| tell());
            self.client.sync(request, BATCH, false).map_err(|e| self.error(&e))?.into()
        };
        wallet.apply(update, &self.origin)
    }

    fn fee(&self, target: u16) -> Result<f64, ProviderError> {
        let told = self.client.inner.estimate_fee(target.into(), None);
        let told = told.map_err(|e| self.error(&e))?;
        // Bitcoin for a thousand bytes; -1 where the server cannot tell.
        Ok(if told == -1.0 { 1.0 } else { told * 100_000.0 })
    }

    fn broadcast(&self, transaction: &Transaction) -> Result<(), ProviderError> {
        let told = self.client.transaction_broadcast(transaction).map_err(|e| match &e {
            Error::Protocol(_) => trouble(&self.origin, "does not take the transaction"),
            e => self.error(e),
        })?;
        match told == transaction.compute_txid() {
            true => Ok(()),
            false => {
                let why = "answers with something else than the transaction's id";
                Err(trouble(&self.origin, why))
            }
        }
    }
}
