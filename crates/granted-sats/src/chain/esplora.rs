//! Esplora: a public HTTP interface to the chain.

use std::sync::atomic::{AtomicU64, Ordering};

use bdk_esplora::EsploraExt as _;
use bdk_esplora::esplora_client::{self, BlockingClient};
use bdk_wallet::bitcoin::consensus::encode::serialize_hex;
use bdk_wallet::bitcoin::{BlockHash, Transaction};
use bdk_wallet::{KeychainKind, Update};

use super::{
    Progress, Provider, ProviderError, REQUEST, STOP_GAP, Step, SyncError, UNSAFE, fees,
    first_look, trouble, unreached,
};
use crate::config::{Entry, origin};
use crate::wallet::Wallet;

/// How many requests are made at once.
const PARALLEL: usize = 4;

/// How often a request that reads is made again. One that broadcasts never is.
const RETRIES: usize = 2;

/// An Esplora server.
pub(super) struct Esplora {
    origin: String,
    url: String,
    bearer: Option<String>,
    client: BlockingClient,
}

impl Esplora {
    pub(super) fn new(entry: &Entry) -> Esplora {
        let url = entry.url.trim_end_matches('/').to_owned();
        let mut builder =
            esplora_client::Builder::new(&url).timeout(REQUEST.as_secs()).max_retries(RETRIES);
        if let Some(bearer) = &entry.bearer {
            builder = builder.header("Authorization", &format!("Bearer {bearer}"));
        }
        let (origin, bearer) = (origin(&url).to_owned(), entry.bearer.clone());
        Esplora { origin, url, bearer, client: builder.build_blocking() }
    }

    fn error(&self, error: &esplora_client::Error) -> ProviderError {
        use esplora_client::Error;
        let why = match error {
            Error::Minreq(error) => return self.http(error),
            Error::HttpResponse { status, .. } => format!("answers with status {status}"),
            Error::HeaderHashNotFound(_) | Error::HeaderHeightNotFound(_) => {
                "does not know the chain that this wallet has seen".to_owned()
            }
            _ => "does not answer as an Esplora server".to_owned(),
        };
        trouble(&self.origin, why)
    }

    fn http(&self, error: &minreq::Error) -> ProviderError {
        use minreq::Error;
        trouble(
            &self.origin,
            match error {
                Error::IoError(e) => unreached(e),
                Error::AddressNotFound => "cannot be reached: there is no such address".to_owned(),
                Error::RustlsCreateConnection(_) => UNSAFE.to_owned(),
                _ => "does not answer as an Esplora server".to_owned(),
            },
        )
    }
}

impl Provider for Esplora {
    fn origin(&self) -> &str {
        &self.origin
    }

    fn block(&self, height: u32) -> Result<BlockHash, ProviderError> {
        self.client.get_block_hash(height).map_err(|e| self.error(&e))
    }

    fn tip(&self) -> Result<u32, ProviderError> {
        self.client.get_height().map_err(|e| self.error(&e))
    }

    fn update(&self, wallet: &Wallet, now: u64, progress: &Progress) -> Result<(), SyncError> {
        let state = wallet.state()?;
        let told = progress.clone();
        let count = AtomicU64::new(0);
        let tell = move || told(Step::Addresses(count.fetch_add(1, Ordering::Relaxed) + 1));
        let update: Update = if state.latest_checkpoint().height() == 0 {
            let request = first_look(&state, now);
            let request = request.inspect(move |_: KeychainKind, _, _| tell());
            let scanned = self.client.full_scan(request, STOP_GAP, PARALLEL);
            scanned.map_err(|e| self.error(&e))?.into()
        } else {
            let request = state.start_sync_with_revealed_spks_at(now);
            let request = request.inspect(move |_, _| tell());
            self.client.sync(request, PARALLEL).map_err(|e| self.error(&e))?.into()
        };
        wallet.apply(update, &self.origin)
    }

    fn fee(&self, target: u16) -> Result<f64, ProviderError> {
        let estimates = self.client.get_fee_estimates().map_err(|e| self.error(&e))?;
        Ok(fees::choose(estimates, target).unwrap_or(1.0))
    }

    fn broadcast(&self, transaction: &Transaction) -> Result<(), ProviderError> {
        let mut request = minreq::post(format!("{}/tx", self.url))
            .with_body(serialize_hex(transaction))
            .with_timeout(REQUEST.as_secs())
            .with_follow_redirects(false);
        if let Some(bearer) = &self.bearer {
            request = request.with_header("Authorization", format!("Bearer {bearer}"));
        }
        let answer = request.send().map_err(|e| self.http(&e))?;
        if !(200..300).contains(&answer.status_code) {
            let why = format!("does not take the transaction (status {})", answer.status_code);
            return Err(trouble(&self.origin, why));
        }
        let id = transaction.compute_txid().to_string();
        match answer.as_str() {
            Ok(text) if text.trim() == id => Ok(()),
            _ => {
                Err(trouble(&self.origin, "answers with something else than the transaction's id"))
            }
        }
    }
}
