use bdk_wallet::bitcoin::bip32::{DerivationPath, Fingerprint};

use super::*;
use crate::funded::{NETWORK, elsewhere, funded, pays};

#[test]
fn what_is_signed_is_what_was_prepared() {
    let (seed, mut wallet) = funded();
    let mut psbt = pays(&mut wallet, &elsewhere());
    let prepared = psbt.unsigned_tx.clone();
    assert_eq!(sign(&wallet, &seed, NETWORK, &mut psbt), Ok(true));
    let signed = extract(psbt.clone()).unwrap();
    assert_eq!(signed.compute_txid(), prepared.compute_txid());
    assert!(signed.input.iter().all(|input| !input.witness.is_empty()));
}

#[test]
fn a_signature_of_another_kind_is_not_made() {
    let (seed, mut wallet) = funded();
    let good = pays(&mut wallet, &elsewhere());
    let mut single = good.clone();
    single.inputs[0].sighash_type = Some(TapSighashType::Single.into());
    assert_eq!(sign(&wallet, &seed, NETWORK, &mut single), Err(SignError::Kind));
    // One for a script of another age, with a key of this wallet.
    let mut older = good;
    let (key, (_, (master, path))) = older.inputs[0].tap_key_origins.first_key_value().unwrap();
    let key = key.public_key(bdk_wallet::bitcoin::secp256k1::Parity::Even);
    let hint = (*master, path.clone());
    older.inputs[0].bip32_derivation.insert(key, hint);
    assert_eq!(sign(&wallet, &seed, NETWORK, &mut older), Err(SignError::Kind));
}

/// A key outside the account's two branches, or of somebody else, signs nothing.
#[test]
fn only_the_accounts_own_keys_sign() {
    let (seed, mut wallet) = funded();
    let good = pays(&mut wallet, &elsewhere());
    let change = |path: Option<&str>, master: Option<Fingerprint>| {
        let mut psbt = good.clone();
        for (_, source) in psbt.inputs[0].tap_key_origins.values_mut() {
            if let Some(path) = path {
                source.1 = path.parse::<DerivationPath>().unwrap();
            }
            source.0 = master.unwrap_or(source.0);
        }
        let whole = sign(&wallet, &seed, NETWORK, &mut psbt);
        (whole, psbt.inputs[0].tap_key_sig.is_some())
    };
    for path in ["m/84'/1'/0'/0/0", "m/86'/0'/0'/0/0", "m/86'/1'/0'/2/0", "m/86'/1'/0'/0/0'"] {
        assert_eq!(change(Some(path), None), (Ok(false), false), "{path}");
    }
    assert_eq!(change(None, Some(Fingerprint::default())), (Ok(false), false));
    assert_eq!(change(None, None).0, Ok(true));
}
