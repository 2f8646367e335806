//! What the wallet saw on the chain.

use bdk_wallet::WalletTx;
use bdk_wallet::bitcoin::{Amount, SignedAmount, TxOut, Txid};
use bdk_wallet::chain::{ChainPosition, ConfirmationBlockTime};

use super::State;

/// Which way the money went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Away.
    Sent,
    /// Here.
    Received,
    /// From the wallet to itself.
    Own,
}

/// How far a transaction is known to the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// It is in a block.
    Confirmed {
        /// The block's height.
        height: u32,
        /// How many blocks there are from it on.
        confirmations: u32,
        /// The block's time, in seconds.
        time: u64,
    },
    /// It waits for one.
    Mempool,
    /// The wallet did not see it.
    Unseen,
}

/// A transaction that concerns the wallet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its id.
    pub txid: Txid,
    /// Which way.
    pub direction: Direction,
    /// What the wallet gained by it, fee and all, in satoshis.
    pub net: i64,
    /// Its fee, in satoshis, where all its inputs are known.
    pub fee: Option<u64>,
    /// How far it is known.
    pub seen: Seen,
    /// When it was first seen, in seconds, if it waits.
    pub first_seen: Option<u64>,
}

/// What the wallet saw: what waits first, then the newest first.
pub fn history(state: &State) -> Vec<Entry> {
    let mut entries: Vec<Entry> = state.transactions().map(|tx| entry(state, &tx)).collect();
    entries.sort_by_key(|entry| {
        let height = match entry.seen {
            Seen::Confirmed { height, .. } => height,
            _ => u32::MAX,
        };
        (std::cmp::Reverse((height, entry.first_seen)), entry.txid)
    });
    entries
}

/// How far the wallet knows a transaction.
pub fn seen(state: &State, txid: Txid) -> Seen {
    state.get_tx(txid).map_or(Seen::Unseen, |tx| position(state, &tx.chain_position))
}

fn position(state: &State, position: &ChainPosition<ConfirmationBlockTime>) -> Seen {
    match position {
        ChainPosition::Confirmed { anchor, .. } => {
            let height = anchor.block_id.height;
            let tip = state.latest_checkpoint().height();
            let confirmations = tip.saturating_sub(height).saturating_add(1);
            Seen::Confirmed { height, confirmations, time: anchor.confirmation_time }
        }
        ChainPosition::Unconfirmed { .. } => Seen::Mempool,
    }
}

fn entry(state: &State, tx: &WalletTx<'_>) -> Entry {
    let node = &tx.tx_node;
    let (sent, received) = state.sent_and_received(&node.tx);
    let net = received.to_signed().and_then(|to| Ok(to - sent.to_signed()?));
    let ours = |output: &TxOut| state.is_mine(output.script_pubkey.clone());
    let direction = match sent.to_sat() {
        0 => Direction::Received,
        _ if node.tx.output.iter().all(ours) => Direction::Own,
        _ => Direction::Sent,
    };
    let first_seen = match tx.chain_position {
        ChainPosition::Unconfirmed { first_seen, .. } => first_seen,
        ChainPosition::Confirmed { .. } => None,
    };
    Entry {
        txid: node.txid,
        direction,
        net: net.map_or(0, SignedAmount::to_sat),
        fee: state.calculate_fee(&node.tx).ok().map(Amount::to_sat),
        seen: position(state, &tx.chain_position),
        first_seen,
    }
}
