//! Coins that are spoken for: those of payments that were signed and may still be sent.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use bdk_wallet::bitcoin::{OutPoint, Psbt, Transaction, Txid, consensus};

use crate::prepare::PrepareError;
use crate::record::RecordError;
use crate::wallet::{State, Wallet};

/// Each coin with the payments that hold it: several where one was to take the place of another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Held(BTreeMap<OutPoint, BTreeSet<Txid>>);

impl Held {
    /// The coins.
    pub fn coins(&self) -> impl Iterator<Item = OutPoint> + '_ {
        self.0.keys().copied()
    }

    /// The payments, in the order of their ids.
    pub fn payments(&self) -> Vec<Txid> {
        self.0.values().flatten().copied().collect::<BTreeSet<Txid>>().into_iter().collect()
    }

    /// The payments that keep the wallet from spending something.
    pub fn withheld(&self, state: &State) -> Vec<Txid> {
        let holders = state.list_unspent().filter_map(|output| self.0.get(&output.outpoint));
        holders.flatten().copied().collect::<BTreeSet<Txid>>().into_iter().collect()
    }

    /// The payments that hold what a transaction spends.
    pub fn of(&self, transaction: &Transaction) -> BTreeSet<Txid> {
        let coins = transaction.input.iter().map(|input| input.previous_output);
        coins.filter_map(|coin| self.0.get(&coin)).flatten().copied().collect()
    }

    /// The same without the coins of this payment, whoever holds them besides: who takes its place spends
    /// them all, and is then in the place of those too.
    #[must_use]
    pub fn but(mut self, payment: &Transaction) -> Held {
        for input in &payment.input {
            self.0.remove(&input.previous_output);
        }
        self
    }
}

impl Wallet {
    /// The coins that payments hold which were signed here, and which the network may still take: if
    /// another payment spent one of them, only one of the two would ever confirm. A payment holds nothing
    /// any more once the wallet sees it, or sees another one in its place.
    ///
    /// A record that cannot be read may hold any coin, and is an error.
    pub fn held(&self, state: &State) -> Result<Held, RecordError> {
        let (records, damaged) = self.records().all()?;
        if let Some(error) = damaged.into_iter().next() {
            return Err(error);
        }
        let spent: HashMap<OutPoint, bool> =
            state.list_output().map(|output| (output.outpoint, output.is_spent)).collect();
        let mut held = Held::default();
        for record in records {
            // Records are checked when they are read.
            let Ok(transaction) = consensus::deserialize::<Transaction>(&record.bytes) else {
                continue;
            };
            let inputs = || transaction.input.iter().map(|input| input.previous_output);
            let txid = transaction.compute_txid();
            let seen = state.get_tx(txid).is_some();
            if seen || inputs().any(|coin| spent.get(&coin) == Some(&true)) {
                continue;
            }
            for coin in inputs() {
                held.0.entry(coin).or_default().insert(txid);
            }
        }
        Ok(held)
    }

    /// Checks, just before it is signed, that what a PSBT spends of this wallet is still free: the person
    /// may have signed another payment since it was prepared. `replaced` are the payments that it takes the
    /// place of.
    pub fn check_free(&self, psbt: &Psbt, replaced: &[Txid]) -> Result<(), PrepareError> {
        let state = self.state()?;
        let (held, spent) = (self.held(&state)?, Spent::of(&state));
        for input in &psbt.unsigned_tx.input {
            let coin = input.previous_output;
            let spender = spent.0.get(&coin).map(|(spender, _)| spender);
            let mut others = held.0.get(&coin).into_iter().flatten().chain(spender);
            if let Some(other) = others.find(|other| !replaced.contains(other)) {
                return Err(PrepareError::Taken(*other));
            }
        }
        Ok(())
    }
}

/// The transaction that the wallet sees in the place of this one, since it spends one of the same coins.
pub fn replacement(state: &State, transaction: &Transaction) -> Option<Txid> {
    Spent::of(state).instead_of(transaction).map(|(spender, _)| spender)
}

/// All that the wallet sees spent, each coin with its spender, and whether that is confirmed; and the spenders.
pub struct Spent(HashMap<OutPoint, (Txid, bool)>, BTreeSet<Txid>);

impl Spent {
    /// As this state has it.
    pub fn of(state: &State) -> Spent {
        let coins = state.transactions().flat_map(|tx| {
            let spender = (tx.tx_node.txid, tx.chain_position.is_confirmed());
            let inputs = tx.tx_node.tx.input.iter().map(|input| input.previous_output);
            inputs.map(|coin| (coin, spender)).collect::<Vec<_>>()
        });
        let coins: HashMap<OutPoint, (Txid, bool)> = coins.collect();
        let spenders = coins.values().map(|(spender, _)| *spender).collect();
        Spent(coins, spenders)
    }

    /// Whether a transaction is among the spenders.
    pub fn sees(&self, txid: Txid) -> bool {
        self.1.contains(&txid)
    }

    /// The transaction that is there in the place of this one, and whether it is confirmed: if so, this one
    /// can never be.
    pub fn instead_of(&self, transaction: &Transaction) -> Option<(Txid, bool)> {
        let txid = transaction.compute_txid();
        let coins = transaction.input.iter().map(|input| input.previous_output);
        let spenders = coins.filter_map(|coin| self.0.get(&coin)).copied();
        // One that is confirmed says more.
        spenders.filter(|(spender, _)| *spender != txid).max_by_key(|(_, confirmed)| *confirmed)
    }
}
