//! Signing: the only time at which there are private keys.

use bdk_wallet::KeychainKind;
use bdk_wallet::SignOptions;
use bdk_wallet::bitcoin::{Psbt, Transaction, consensus};
use bdk_wallet::signer::SignersContainer;
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
    /// What was signed is another transaction.
    #[error("what was signed is not what was prepared")]
    Other,
}

/// Signs what it can of a PSBT; whether it is whole now.
pub fn sign(
    state: &State,
    seed: &Seed,
    wallet: &Wallet,
    psbt: &mut Psbt,
) -> Result<bool, SignError> {
    let before = psbt.unsigned_tx.clone();
    let keys = seed.private_keys(wallet.network()).map_err(|e| SignError::Keys(e.to_string()))?;
    let signers = |keys, keychain| {
        SignersContainer::build(keys, state.public_descriptor(keychain), state.secp_ctx())
    };
    let external = signers(keys.external, KeychainKind::External);
    let internal = signers(keys.internal, KeychainKind::Internal);
    let options = SignOptions::default();
    let signed = state.sign_with_signers(psbt, &[&external, &internal], options);
    let whole = signed.map_err(|e| SignError::Library(e.to_string()))?;
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
        if !sign(&self.state, seed, wallet, &mut psbt).map_err(|e| e.to_string())? {
            return Ok(Signed::Unfinalized);
        }
        let transaction = extract(psbt).map_err(|e| e.to_string())?;
        let txid = Txid::new(transaction.compute_txid().to_string()).map_err(|e| e.to_string())?;
        Ok(Signed::Finalized { txid, bytes: consensus::serialize(&transaction) })
    }
}
