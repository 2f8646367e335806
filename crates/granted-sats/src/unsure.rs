//! Coins that others may still take back.

use std::collections::HashSet;

use bdk_wallet::bitcoin::{TxIn, Txid};
use bdk_wallet::{LocalOutput, Wallet};

/// The unspent outputs of transactions that wait for a block and are not wholly the wallet's: somebody else
/// made one, or a part of one, or of one that it spends of, and may replace it. A payment that spends such
/// an output may never confirm.
///
/// The library asks which keychain an output is of; but anybody can pay to change that was seen.
pub fn unsure(state: &Wallet) -> Vec<LocalOutput> {
    let foreign = foreign(state);
    state.list_unspent().filter(|output| foreign.contains(&output.outpoint.txid)).collect()
}

/// The transactions that wait for a block and spend what is not the wallet's, or of another one that does.
fn foreign(state: &Wallet) -> HashSet<Txid> {
    let graph = state.tx_graph();
    let is_own = |input: &TxIn| {
        let output = graph.get_txout(input.previous_output);
        output.is_some_and(|output| state.is_mine(output.script_pubkey.clone()))
    };
    let waiting = state.transactions().filter(|tx| tx.chain_position.is_unconfirmed());
    let begin = waiting.filter(|tx| !tx.tx_node.tx.input.iter().all(is_own));
    let mut found: HashSet<Txid> = begin.map(|tx| tx.tx_node.txid).collect();
    let mut ahead: Vec<Txid> = found.iter().copied().collect();
    while let Some(txid) = ahead.pop() {
        let spenders = graph.tx_spends(txid).flat_map(|(_, spenders)| spenders.iter().copied());
        ahead.extend(spenders.filter(|spender| found.insert(*spender)));
    }
    found
}

#[cfg(test)]
mod tests {
    use bdk_wallet::bitcoin::Amount;

    use super::*;
    use crate::funded::{elsewhere, funded, pays};

    /// Neither what somebody pays is sure before it is in a block, nor one's own change of it.
    #[test]
    fn change_of_what_may_be_taken_back_may_be_taken_back() {
        let (_, mut wallet) = funded();
        let values = |wallet: &Wallet| -> Vec<Amount> {
            unsure(wallet).iter().map(|output| output.txout.value).collect()
        };
        assert_eq!(values(&wallet), [Amount::from_sat(1_000_000)]);
        let spends = pays(&mut wallet, &elsewhere()).unsigned_tx;
        wallet.apply_unconfirmed_txs([(spends, 2)]);
        let change = wallet.balance().trusted_pending;
        assert!(change > Amount::ZERO, "the library relies on it");
        assert_eq!(values(&wallet), [change]);
    }
}
