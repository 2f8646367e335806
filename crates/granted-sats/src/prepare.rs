//! Preparing a payment: everything up to the signature.

use std::collections::BTreeSet;

use bdk_wallet::bitcoin::absolute::LockTime;
use bdk_wallet::bitcoin::{Amount, FeeRate, OutPoint, Psbt, Transaction, Txid};
use bdk_wallet::error::{BuildFeeBumpError, CreateTxError};
use bdk_wallet::{KeychainKind, LocalOutput};
use granted_core::spend::{Network, Sats};

use crate::chain::SyncError;
use crate::config::ChoiceError;
use crate::held::{Held, Spent};
use crate::network::AddressError;
use crate::payment::{self, Payment, PaymentError};
use crate::record::RecordError;
use crate::unsure::unsure;
use crate::wallet::{State, Wallet, WalletError};

/// Outputs of exactly these values are kept back: they often carry something that is worth more.
const KEPT_BACK: [Amount; 2] = [Amount::from_sat(546), Amount::from_sat(330)];

/// A payment that is ready to be signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ready {
    /// What it does, derived from the PSBT.
    pub payment: Payment,
    /// The PSBT, unsigned.
    pub psbt: Psbt,
    /// The outputs that were kept back.
    pub kept_back: Vec<OutPoint>,
    /// The payments that it takes the place of: they spend some of the same coins, so that only one of all
    /// ever confirms.
    pub instead_of: Vec<Txid>,
}

/// Why a payment cannot be made ready. Nothing was signed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PrepareError {
    /// The recipient.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// Which provider to ask.
    #[error(transparent)]
    Choice(#[from] ChoiceError),
    /// The chain.
    #[error(transparent)]
    Sync(#[from] SyncError),
    /// The wallet.
    #[error(transparent)]
    Wallet(#[from] WalletError),
    /// There is nothing to spend at all.
    #[error("this wallet holds nothing yet")]
    Empty,
    /// There is, but all of it is kept back.
    #[error("all that this wallet holds is kept back: outputs of exactly 546 or 330 sat")]
    KeptBack,
    /// Not enough.
    #[error(
        "not enough to spend: {needed} sat are needed, fee and all, and {available} sat are there"
    )]
    Insufficient {
        /// What is needed.
        needed: Sats,
        /// What there is.
        available: Sats,
    },
    /// Not enough, since others may still take back the rest.
    #[error(
        "not enough to spend: {needed} sat are needed, fee and all, and {available} sat are there; \
         {waiting} sat more wait for a block"
    )]
    Waiting {
        /// What is needed.
        needed: Sats,
        /// What there is besides.
        available: Sats,
        /// What waits.
        waiting: Sats,
    },
    /// Not enough, since payments that were signed and may still be sent hold the rest.
    #[error(
        "not enough to spend: {needed} sat are needed, fee and all, and {available} sat are free; \
         the rest is held until it is sent by {}, signed before", listed(.by)
    )]
    Held {
        /// What is needed.
        needed: Sats,
        /// What there is besides.
        available: Sats,
        /// The payments.
        by: Vec<Txid>,
    },
    /// Another payment spends the same coins.
    #[error("`{0}` spends the same coins, and was signed since this was prepared")]
    Taken(Txid),
    /// The records, which say what is held.
    #[error("{0}: the coins that it may hold are not known")]
    Record(#[from] RecordError),
    /// The amount is too small to be relayed.
    #[error("the amount is below what the network relays to this address")]
    Dust,
    /// The replacement would not be taken.
    #[error("the fee rate is too low to replace it: at least {0} sat/vB")]
    RateTooLow(u64),
    /// Another one took its place.
    #[error("`{0}` was replaced by `{1}`, so nothing can take its place")]
    Replaced(Txid, Txid),
    /// Not all the coins are there by which one could take its place.
    #[error("not all coins of `{0}` can be spent now, so nothing can take its place")]
    NoPlace(Txid),
    /// The transaction cannot be replaced.
    #[error("{0}")]
    NoBump(String),
    /// What was built does not pay what was asked for.
    #[error("refusing to sign: {0}")]
    Payment(#[from] PaymentError),
    /// It pays something else.
    #[error("refusing to sign: it does not pay what was asked for")]
    Other,
    /// Anything else that the library says.
    #[error("the transaction cannot be built: {0}")]
    Build(String),
}

/// What is to be paid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// Whom.
    pub recipient: bdk_wallet::bitcoin::Address,
    /// How much.
    pub amount: Amount,
    /// Whether outputs may be spent that are kept back otherwise.
    pub allow_dust: bool,
    /// The payment in whose place it is to be: it spends coins of that, so only one of the two ever confirms.
    pub instead_of: Option<Transaction>,
}

/// The outputs of amounts that are kept back.
fn kept_back(state: &State) -> Vec<OutPoint> {
    let kept = state.list_unspent().filter(|o| KEPT_BACK.contains(&o.txout.value));
    kept.map(|output| output.outpoint).collect()
}

/// The outputs that are kept back, if there is anything else to spend.
pub fn keep_back(state: &State, allow_dust: bool) -> Result<Vec<OutPoint>, PrepareError> {
    let kept: Vec<OutPoint> = match allow_dust {
        true => Vec::new(),
        false => kept_back(state),
    };
    match state.list_unspent().count() {
        0 => Err(PrepareError::Empty),
        count if count == kept.len() => Err(PrepareError::KeptBack),
        _ => Ok(kept),
    }
}

/// Builds the payment of what is not held, and what nobody else can take back; the change address that it
/// takes is revealed in the state.
pub fn build(
    state: &mut State,
    order: &Order,
    rate: FeeRate,
    network: Network,
    held: Held,
) -> Result<Ready, PrepareError> {
    let all = &held;
    let held = match &order.instead_of {
        Some(other) => held.clone().but(other),
        None => held.clone(),
    };
    let mut kept_back = keep_back(state, order.allow_dust)?;
    let unsure = unsure(state);
    kept_back.extend(held.coins());
    kept_back.extend(unsure.iter().map(|output| output.outpoint));
    kept_back.sort_unstable();
    kept_back.dedup();
    let shared = order.instead_of.as_ref().map(|other| shared(state, other, &kept_back));
    let shared = shared.transpose()?.unwrap_or_default();
    let short = Short { by: held.withheld(state), waiting: sum(&unsure) };
    let mut builder = state.build_tx();
    builder
        .add_recipient(order.recipient.script_pubkey(), order.amount)
        .fee_rate(rate)
        // Not the height that a provider tells, which would hold the payment back if it is a lie.
        .nlocktime(LockTime::ZERO)
        .unspendable(kept_back.clone());
    builder.add_utxos(&shared).map_err(|e| PrepareError::Build(e.to_string()))?;
    let psbt = builder.finish().map_err(|e| create_error(e, short))?;
    let payment = payment::derive(state, &psbt, network)?;
    if payment.recipient != order.recipient || payment.amount != order.amount {
        return Err(PrepareError::Other);
    }
    let spends = |coin| psbt.unsigned_tx.input.iter().any(|input| input.previous_output == coin);
    match shared.into_iter().all(spends) {
        true => {
            let instead_of = all.of(&psbt.unsigned_tx).into_iter().collect();
            Ok(Ready { payment, psbt, kept_back, instead_of })
        }
        false => Err(PrepareError::Other),
    }
}

/// The wallet's coins of a payment, all of which have to be there to be spent. Who takes its place spends all
/// of them, so that of several that do, and of those in whose place it is, only one ever confirms.
fn shared(
    state: &State,
    other: &Transaction,
    kept_back: &[OutPoint],
) -> Result<Vec<OutPoint>, PrepareError> {
    let txid = other.compute_txid();
    if let Some((by, _)) = Spent::of(state).instead_of(other) {
        return Err(PrepareError::Replaced(txid, by));
    }
    // Also one that is not there any more may come back.
    let is_ours = |coin: &OutPoint| {
        let output = state.tx_graph().get_txout(*coin);
        output.is_some_and(|output| state.is_mine(output.script_pubkey.clone()))
    };
    let coins: Vec<OutPoint> =
        other.input.iter().map(|input| input.previous_output).filter(is_ours).collect();
    let unspent: BTreeSet<OutPoint> = state.list_unspent().map(|output| output.outpoint).collect();
    let is_free = |coin: &OutPoint| unspent.contains(coin) && !kept_back.contains(coin);
    match !coins.is_empty() && coins.iter().all(is_free) {
        true => Ok(coins),
        false => Err(PrepareError::NoPlace(txid)),
    }
}

impl Wallet {
    /// Builds a transaction in the place of one that was signed here, with a higher fee: the same recipient
    /// gets the same. `now` is in seconds. Of all that it takes for granted only the change address is kept.
    pub fn bump(
        &self,
        kept: &Transaction,
        before: &Payment,
        rate: FeeRate,
        now: u64,
    ) -> Result<Ready, PrepareError> {
        let txid = kept.compute_txid();
        self.change(|state| {
            let held = self.held(state)?;
            let mut look = self.state()?;
            if held.payments().contains(&txid) {
                // The network does not have it yet. To be replaced, it has to wait there as far as this look
                // goes; times are in seconds, and it may have been found gone in this one.
                look.apply_unconfirmed_txs([(kept.clone(), now.saturating_add(1))]);
            }
            let free = held.clone().but(kept);
            let mut ready = bump(&mut look, txid, before, rate, self.network(), &free)?;
            let instead_of =
                held.of(&ready.psbt.unsigned_tx).into_iter().filter(|other| *other != txid);
            ready.instead_of = std::iter::once(txid).chain(instead_of).collect();
            if let Some(last) = look.derivation_index(KeychainKind::Internal) {
                let _ = state.reveal_addresses_to(KeychainKind::Internal, last);
            }
            Ok(ready)
        })
    }
}

/// Builds the replacement of a transaction that waits.
fn bump(
    state: &mut State,
    txid: Txid,
    before: &Payment,
    rate: FeeRate,
    network: Network,
    held: &Held,
) -> Result<Ready, PrepareError> {
    // A replaced transaction takes with it what spends its change, and that may be an agent's payment.
    let spends = |tx: &bdk_wallet::WalletTx<'_>| {
        tx.tx_node.tx.input.iter().any(|input| input.previous_output.txid == txid)
    };
    let spent = state.transactions().any(|tx| spends(&tx));
    if spent || held.coins().any(|coin| coin.txid == txid) {
        return Err(PrepareError::NoBump(format!(
            "a later payment spends the change of `{txid}` and would be undone with it"
        )));
    }
    let mut kept = kept_back(state);
    kept.extend(held.coins());
    let short = Short { by: held.withheld(state), waiting: sum(&unsure(state)) };
    let mut builder = state.build_fee_bump(txid).map_err(|e| match e {
        BuildFeeBumpError::TransactionConfirmed(_) => {
            PrepareError::NoBump(format!("`{txid}` is confirmed: nothing can replace it"))
        }
        BuildFeeBumpError::TransactionNotFound(_) | BuildFeeBumpError::UnknownUtxo(_) => {
            PrepareError::NoBump(format!("`{txid}` does not wait for a block any more"))
        }
        BuildFeeBumpError::IrreplaceableTransaction(_) => {
            PrepareError::NoBump(format!("`{txid}` was made such that nothing may replace it"))
        }
        e => PrepareError::Build(e.to_string()),
    })?;
    // Of what it adds, the library takes only what is confirmed.
    builder.fee_rate(rate).nlocktime(LockTime::ZERO).unspendable(kept);
    let psbt = builder.finish().map_err(|e| create_error(e, short))?;
    let payment = payment::derive(state, &psbt, network)?;
    match (&payment.recipient, payment.amount) == (&before.recipient, before.amount) {
        true => {
            let (kept_back, instead_of) = Default::default();
            Ok(Ready { payment, psbt, kept_back, instead_of })
        }
        false => Err(PrepareError::Other),
    }
}

/// Why there may be too little to spend.
struct Short {
    /// The payments that hold coins.
    by: Vec<Txid>,
    /// What others may still take back.
    waiting: Amount,
}

fn sum(outputs: &[LocalOutput]) -> Amount {
    outputs.iter().map(|output| output.txout.value).sum()
}

fn create_error(error: CreateTxError, short: Short) -> PrepareError {
    let sats = |amount: Amount| Sats::new(amount.to_sat()).unwrap_or(Sats::MAX);
    match error {
        CreateTxError::CoinSelection(e) => {
            let (needed, available) = (sats(e.needed), sats(e.available));
            let Short { by, waiting } = short;
            match (by.is_empty(), waiting) {
                (false, _) => PrepareError::Held { needed, available, by },
                (true, Amount::ZERO) => PrepareError::Insufficient { needed, available },
                (true, waiting) => {
                    PrepareError::Waiting { needed, available, waiting: sats(waiting) }
                }
            }
        }
        CreateTxError::OutputBelowDustLimit(_) => PrepareError::Dust,
        CreateTxError::FeeRateTooLow { required } => {
            PrepareError::RateTooLow(required.to_sat_per_vb_ceil())
        }
        e => PrepareError::Build(e.to_string()),
    }
}

fn listed(payments: &[Txid]) -> String {
    let quoted: Vec<String> = payments.iter().map(|txid| format!("`{txid}`")).collect();
    quoted.join(", ")
}
