//! Signing: the only time at which there are private keys.

use bdk_wallet::SignOptions;
use bdk_wallet::bitcoin::{Amount, Psbt, TapSighashType, Transaction, Txid, consensus};
use granted_core::spend::Network;
use granted_core::spend::agent::Txid as Id;
use granted_core::spend::chain::{Key, Order, Prepared, Signed, Signer};

use crate::network;
use crate::payment::{self, Payment};
use crate::prepare::PrepareError;
use crate::seed::Seed;
use crate::wallet::{State, Wallet, is_of};

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
    /// It is not what the person agreed to, or its coins are not free.
    #[error(transparent)]
    Stopped(#[from] PrepareError),
}

/// The last look before a payment is signed: by keys that come from the seed, and from no file, it pays
/// what was agreed to, and its coins are free. `replaced` are the payments that it takes the place of.
/// The state that it is to be signed with.
pub fn check(
    wallet: &Wallet,
    seed: &Seed,
    psbt: &Psbt,
    agreed: &Payment,
    replaced: &[Txid],
) -> Result<State, SignError> {
    let state = wallet.state().map_err(PrepareError::from)?;
    check_seed(&state, seed, wallet.network())?;
    // Change to keys of anybody else would be a second recipient here.
    let pays = payment::derive(&state, psbt, wallet.network()).map_err(PrepareError::from)?;
    if pays != *agreed {
        return Err(PrepareError::Other.into());
    }
    wallet.check_free(psbt, replaced)?;
    Ok(state)
}

fn check_seed(state: &bdk_wallet::Wallet, seed: &Seed, network: Network) -> Result<(), SignError> {
    let keys = seed.public_keys(network).map_err(|e| SignError::Keys(e.to_string()))?;
    match is_of(state, &keys) {
        true => Ok(()),
        false => Err(SignError::Keys("the wallet's keys are not those of the seed".into())),
    }
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
    check_seed(state, seed, network)?;
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
    fn signer(self: Box<Self>, prepared: &Prepared) -> Result<Box<dyn Signer>, String> {
        let psbt = Psbt::deserialize(&prepared.psbt).map_err(|e| e.to_string())?;
        let recipient = network::address(self.wallet.network(), prepared.recipient.as_str());
        let agreed = Payment {
            recipient: recipient.map_err(|e| e.to_string())?,
            amount: Amount::from_sat(prepared.amount.to_u64()),
            fee: Amount::from_sat(prepared.fee.to_u64()),
        };
        let state = check(&self.wallet, &self.seed, &psbt, &agreed, &[]);
        let state = state.map_err(|e| e.to_string())?;
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
        let txid = Id::new(transaction.compute_txid().to_string()).map_err(|e| e.to_string())?;
        Ok(Signed::Finalized { txid, bytes: consensus::serialize(&transaction) })
    }
}

#[cfg(test)]
mod tests;
