//! Bitcoin Core, or a node that speaks as it does, over its RPC interface. No wallet of the node is used.

use std::sync::Arc;

use bdk_bitcoind_rpc::bitcoincore_rpc::jsonrpc::minreq_http::{Builder, HttpError};
use bdk_bitcoind_rpc::bitcoincore_rpc::jsonrpc::{self, minreq_http};
use bdk_bitcoind_rpc::bitcoincore_rpc::{Auth, Client, Error, RpcApi as _};
use bdk_bitcoind_rpc::{BlockEvent, Emitter};
use bdk_wallet::bitcoin::{Block, BlockHash, Transaction};
use granted_core::spend::Network;

use super::{Progress, Provider, ProviderError, REQUEST, Step, SyncError, trouble, unreached};
use crate::config::{Entry, origin, without_user};
use crate::wallet::Wallet;

/// How many blocks are noted at a time, so that a long scan goes on where it was stopped.
const BATCH: usize = 100;

/// The clocks of miners may be wrong by so much.
const DRIFT: u64 = 2 * 60 * 60;

/// The first block that can pay to Taproot, on mainnet.
const TAPROOT: u32 = 709_632;

/// A node.
pub(super) struct Core {
    origin: String,
    client: Arc<Client>,
}

impl Core {
    pub(super) fn new(entry: &Entry) -> Result<Core, ProviderError> {
        let origin = origin(&entry.url).to_owned();
        let (url, user) = without_user(&entry.url);
        let auth = match (user, &entry.cookie) {
            (Some((name, password)), _) => Auth::UserPass(name, password),
            (None, Some(path)) => Auth::CookieFile(path.clone()),
            (None, None) => Auth::None,
        };
        let unreadable = |_| {
            let file = entry.cookie.clone().unwrap_or_default();
            trouble(&origin, format!("wants a cookie, and `{}` cannot be read", file.display()))
        };
        let (name, password) = auth.get_user_pass().map_err(unreadable)?;
        let bad_url = |_| trouble(&origin, "is no URL of a node");
        let mut builder = Builder::new().timeout(REQUEST).url(&url).map_err(bad_url)?;
        if let Some(name) = name {
            builder = builder.basic_auth(name, password);
        }
        let client = jsonrpc::Client::with_transport(builder.build());
        Ok(Core { client: Arc::new(Client::from_jsonrpc(client)), origin })
    }

    fn error(&self, error: &Error) -> ProviderError {
        let why = match error {
            Error::JsonRpc(jsonrpc::Error::Transport(error)) => {
                match error.downcast_ref::<minreq_http::Error>() {
                    Some(minreq_http::Error::Http(HttpError {
                        status_code: 401 | 403, ..
                    })) => "does not let this user in".to_owned(),
                    Some(minreq_http::Error::Http(HttpError { status_code, .. })) => {
                        format!("answers with status {status_code}")
                    }
                    Some(minreq_http::Error::Minreq(minreq::Error::IoError(e))) => unreached(e),
                    _ => "does not answer as a node".to_owned(),
                }
            }
            Error::JsonRpc(jsonrpc::Error::Rpc(rpc)) => {
                format!("refuses what it is asked for (code {})", rpc.code)
            }
            _ => "does not answer as a node".to_owned(),
        };
        trouble(&self.origin, why)
    }

    /// The block at which a first scan begins: no earlier one can pay keys that were made at `born`.
    fn start(&self, network: Network, born: Option<u64>) -> Result<u32, ProviderError> {
        let mut first = if network == Network::Mainnet { TAPROOT } else { 0 };
        let Some(born) = born else { return Ok(first) };
        let mut last = self.tip()?;
        // The median time of blocks never falls, so it can be searched by halves.
        while first < last {
            let middle = first + (last - first).div_ceil(2);
            let header = self.client.get_block_hash(middle.into());
            let header = header.and_then(|hash| self.client.get_block_header_info(&hash));
            let median = header.map_err(|e| self.error(&e))?.median_time;
            let median = median.and_then(|time| u64::try_from(time).ok()).unwrap_or(u64::MAX);
            match median.saturating_add(DRIFT) < born {
                true => first = middle,
                false => last = middle - 1,
            }
        }
        Ok(first)
    }

    fn note(&self, wallet: &Wallet, blocks: &[BlockEvent<Block>]) -> Result<(), SyncError> {
        wallet.change(|state| {
            for event in blocks {
                let (height, before) = (event.block_height(), event.connected_to());
                let applied = state.apply_block_connected_to(&event.block, height, before);
                applied.map_err(|_| {
                    let why = "tells of a chain that does not connect to what this wallet has seen";
                    SyncError::Provider(trouble(&self.origin, why))
                })?;
            }
            Ok(())
        })
    }
}

impl Provider for Core {
    fn origin(&self) -> &str {
        &self.origin
    }

    fn block(&self, height: u32) -> Result<BlockHash, ProviderError> {
        self.client.get_block_hash(height.into()).map_err(|e| self.error(&e))
    }

    fn tip(&self) -> Result<u32, ProviderError> {
        let tip = self.client.get_block_count().map_err(|e| self.error(&e))?;
        u32::try_from(tip).map_err(|_| trouble(&self.origin, "does not answer as a node"))
    }

    fn update(&self, wallet: &Wallet, now: u64, progress: &Progress) -> Result<(), SyncError> {
        let state = wallet.state()?;
        let tip = state.latest_checkpoint();
        let start = match tip.height() {
            0 => self.start(wallet.network(), wallet.born()?)?,
            height => height,
        };
        let last = self.tip()?;
        let waiting = state.transactions().filter(|tx| tx.chain_position.is_unconfirmed());
        let waiting: Vec<Arc<Transaction>> = waiting.map(|tx| tx.tx_node.tx.clone()).collect();
        let mut emitter = Emitter::new(Arc::clone(&self.client), tip, start, waiting);
        let mut blocks = Vec::with_capacity(BATCH);
        while let Some(event) = emitter.next_block().map_err(|e| self.error(&e))? {
            progress(Step::Block(event.block_height(), last));
            blocks.push(event);
            if blocks.len() == BATCH {
                self.note(wallet, &blocks)?;
                blocks.clear();
            }
        }
        let mempool = emitter.mempool_at(now).map_err(|e| self.error(&e))?;
        self.note(wallet, &blocks)?;
        wallet.change(|state| {
            state.apply_evicted_txs(mempool.evicted);
            state.apply_unconfirmed_txs(mempool.update);
            Ok(())
        })
    }

    fn fee(&self, target: u16) -> Result<f64, ProviderError> {
        let told = self.client.estimate_smart_fee(target, None).map_err(|e| self.error(&e))?;
        // For a thousand bytes; nothing where the node has seen too few blocks to tell.
        Ok(told.fee_rate.map_or(1.0, |rate| rate.to_btc() * 100_000.0))
    }

    fn broadcast(&self, transaction: &Transaction) -> Result<(), ProviderError> {
        let told = self.client.send_raw_transaction(transaction).map_err(|e| match &e {
            Error::JsonRpc(jsonrpc::Error::Rpc(rpc)) => {
                let why = format!("does not take the transaction (code {})", rpc.code);
                trouble(&self.origin, why)
            }
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
