//! Signing: the only time at which there are private keys.

use bdk_wallet::SignOptions;
use bdk_wallet::bitcoin::{Psbt, TapSighashType, Transaction, consensus};
use granted_core::spend::Network;
use granted_core::spend::agent::Txid;
use granted_core::spend::chain::{Key, Order, Signed, Signer};

use crate::seed::Seed;
use crate::wallet::{State, Wallet};

/// Why no whole transaction came of signing. A signature may exist all the same.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignError {
    /// The keys.
    #[error("{0}")]
    Keys(String),
    /// The library.
    #[error("it cannot be signed: {0}")]
    Library(String),
    /// It is to be signed in another way than this wallet signs.
    #[error("it asks for a kind of signature that this wallet does not make")]
    Kind,
    /// What was signed is another transaction.
    #[error("what was signed is not what was prepared")]
    Other,
}

/// Signs what is the wallet's of a PSBT; whether it is whole now.
///
/// A signature says the amounts and the scripts of all that is spent, so a PSBT that lies about them
/// makes a signature that is good for nothing.
pub fn sign(
    state: &bdk_wallet::Wallet,
    seed: &Seed,
    network: Network,
    psbt: &mut Psbt,
) -> Result<bool, SignError> {
    let key = seed.account(network).map_err(|e| SignError::Keys(e.to_string()))?;
    for input in &psbt.inputs {
        let all = [None, Some(TapSighashType::Default.into()), Some(TapSighashType::All.into())];
        let older = input.bip32_derivation.values().any(|(master, _)| *master == key.master());
        if !all.contains(&input.sighash_type) || older {
            return Err(SignError::Kind);
        }
    }
    let before = psbt.unsigned_tx.clone();
    // What cannot be signed is found when it is not whole.
    let _ = psbt.sign(&key, state.secp_ctx());
    drop(key);
    let whole = state.finalize_psbt(psbt, SignOptions::default());
    let whole = whole.map_err(|e| SignError::Library(e.to_string()))?;
    match psbt.unsigned_tx == before {
        true => Ok(whole),
        false => Err(SignError::Other),
    }
}

/// The transaction of a PSBT that is whole. But for its signatures it is the one that was prepared.
pub fn extract(psbt: Psbt) -> Result<Transaction, SignError> {
    let prepared = psbt.unsigned_tx.clone();
    let whole = psbt.extract_tx().map_err(|e| SignError::Library(e.to_string()))?;
    let mut bare = whole.clone();
    for input in &mut bare.input {
        input.witness.clear();
        input.script_sig = Default::default();
    }
    match bare == prepared {
        true => Ok(whole),
        false => Err(SignError::Other),
    }
}

/// The person's seed, opened.
pub struct SeedKey {
    /// The seed.
    pub seed: Seed,
    /// The wallet that it is for.
    pub wallet: Wallet,
}

/// A signer of one PSBT.
struct SeedSigner {
    key: SeedKey,
    state: State,
}

impl Key for SeedKey {
    fn signer(self: Box<Self>) -> Result<Box<dyn Signer>, String> {
        let state = self.wallet.state().map_err(|e| e.to_string())?;
        Ok(Box::new(SeedSigner { key: *self, state }))
    }
}

impl Signer for SeedSigner {
    fn sign(self: Box<Self>, order: Order<'_>) -> Result<Signed, String> {
        let mut psbt = Psbt::deserialize(order.psbt()).map_err(|e| e.to_string())?;
        if psbt.unsigned_tx.compute_txid().to_string() != order.txid().as_str() {
            return Err(SignError::Other.to_string());
        }
        let SeedKey { seed, wallet } = &self.key;
        if !sign(&self.state, seed, wallet.network(), &mut psbt).map_err(|e| e.to_string())? {
            return Ok(Signed::Unfinalized);
        }
        let transaction = extract(psbt).map_err(|e| e.to_string())?;
        let txid = Txid::new(transaction.compute_txid().to_string()).map_err(|e| e.to_string())?;
        Ok(Signed::Finalized { txid, bytes: consensus::serialize(&transaction) })
    }
}

#[cfg(test)]
mod tests;
