//! What a PSBT pays, as the wallet's own descriptors tell it and nothing else.

use bdk_wallet::bitcoin::{Address, Amount, Psbt, ScriptBuf, psbt};
use bdk_wallet::{KeychainKind, Wallet};
use granted_core::spend::Network;

use crate::network;

/// So many hints of where a key comes from are looked at in an output.
const MAX_HINTS: usize = 8;

/// What a PSBT does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payment {
    /// Whom it pays.
    pub recipient: Address,
    /// How much.
    pub amount: Amount,
    /// What the inputs have beyond the outputs.
    pub fee: Amount,
}

/// Why it cannot be told what a PSBT pays, or why it pays otherwise than this wallet does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PaymentError {
    /// An input says nothing of what it spends.
    #[error("an input does not say what it spends")]
    NoOutput,
    /// An input spends what is not the wallet's.
    #[error("an input spends what is not this wallet's")]
    Foreign,
    /// There is no recipient, or more than one.
    #[error("it pays {0} recipients, and not one")]
    Recipients(usize),
    /// The recipient's script has no address.
    #[error("it pays to a script that has no address")]
    NoAddress,
    /// More goes out than comes in.
    #[error("its amounts do not add up")]
    Sum,
}

/// Derives what a PSBT pays. Change is only what goes to the wallet's internal keychain and says so; what
/// goes to an address that the wallet gave out is a payment to it.
pub fn derive(state: &Wallet, psbt: &Psbt, network: Network) -> Result<Payment, PaymentError> {
    let tx = &psbt.unsigned_tx;
    if psbt.inputs.len() != tx.input.len() || psbt.outputs.len() != tx.output.len() {
        return Err(PaymentError::Sum);
    }
    let sum = |sum: Amount, amount| sum.checked_add(amount).ok_or(PaymentError::Sum);
    let mut spent = Amount::ZERO;
    for input in &psbt.inputs {
        let output = input.witness_utxo.as_ref().ok_or(PaymentError::NoOutput)?;
        if !state.is_mine(output.script_pubkey.clone()) {
            return Err(PaymentError::Foreign);
        }
        spent = sum(spent, output.value)?;
    }
    let mut paid = Vec::new();
    let mut sent = Amount::ZERO;
    for (output, hints) in tx.output.iter().zip(&psbt.outputs) {
        sent = sum(sent, output.value)?;
        if !is_change(state, &output.script_pubkey, hints) {
            paid.push(output);
        }
    }
    let [recipient] = paid.as_slice() else { return Err(PaymentError::Recipients(paid.len())) };
    let address = Address::from_script(&recipient.script_pubkey, network::bitcoin(network));
    Ok(Payment {
        recipient: address.map_err(|_| PaymentError::NoAddress)?,
        amount: recipient.value,
        fee: spent.checked_sub(sent).ok_or(PaymentError::Sum)?,
    })
}

/// Whether an output's hints lead to its script through the internal keychain.
fn is_change(state: &Wallet, script: &ScriptBuf, hints: &psbt::Output) -> bool {
    let change = state.public_descriptor(KeychainKind::Internal);
    let paths = hints.tap_key_origins.values().take(MAX_HINTS).map(|(_, (_, path))| path);
    let indexes = paths.filter_map(|path| path.into_iter().last().copied());
    let indexes = indexes.filter(|index| !index.is_hardened()).map(u32::from);
    // Change is only what this wallet gave out: it finds no coins beyond.
    let last = state.derivation_index(KeychainKind::Internal);
    indexes.filter(|index| last.is_some_and(|last| *index <= last)).any(|index| {
        let derived = change.at_derivation_index(index);
        derived.is_ok_and(|derived| derived.script_pubkey() == *script)
    })
}

#[cfg(test)]
mod tests;
