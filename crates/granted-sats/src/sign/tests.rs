use bdk_wallet::KeychainKind;
use bdk_wallet::bitcoin::bip32::{DerivationPath, Fingerprint};

use super::*;
use crate::funded::{NETWORK, elsewhere, funded, pays};
use crate::payment::PaymentError;
use crate::wallet::WalletError;
use crate::wallet::tests::on_disk;

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

/// A state of other keys would have the change go to somebody else: neither what was prepared with it is
/// signed, nor with it anything.
#[test]
fn change_goes_only_to_keys_of_the_seed() {
    let (seed, mut wallet) = funded();
    let (dir, disk) = on_disk(&seed);
    let coins = wallet.tx_graph().full_txs().map(|tx| tx.tx.as_ref().clone());
    let coins: Vec<Transaction> = coins.collect();
    disk.change(|state| {
        let _ = state.reveal_next_address(KeychainKind::External);
        let _ = state.reveal_next_address(KeychainKind::Internal);
        state.apply_unconfirmed_txs(coins.iter().map(|tx| (tx.clone(), 1)));
        Ok::<_, WalletError>(())
    })
    .unwrap();
    let good = pays(&mut wallet, &elsewhere());
    let agreed = payment::derive(&wallet, &good, NETWORK).unwrap();
    assert!(check(&disk, &seed, &good, &agreed, &[]).is_ok());
    // Prepared while the state was another's, whose change it takes for its own.
    let other = Seed::generate(crate::seed::Length::Twelve).unwrap();
    let (keys, others) = (seed.public_keys(NETWORK), other.public_keys(NETWORK).unwrap());
    let forged = bdk_wallet::Wallet::create(keys.unwrap().external, others.internal)
        .network(network::bitcoin(NETWORK));
    let mut forged = forged.create_wallet_no_persist().unwrap();
    let _ = forged.reveal_next_address(KeychainKind::External);
    forged.apply_unconfirmed_txs(coins.into_iter().map(|tx| (tx, 1)));
    let mut stolen = pays(&mut forged, &elsewhere());
    let agreed = payment::derive(&forged, &stolen, NETWORK).unwrap();
    let refused = check(&disk, &seed, &stolen, &agreed, &[]).map(drop);
    let PrepareError::Payment(why) = stopped(refused) else { panic!("another reason") };
    assert_eq!(why, PaymentError::Recipients(2));
    // And with that state.
    let refused = sign(&forged, &seed, NETWORK, &mut stolen);
    assert!(matches!(refused, Err(SignError::Keys(_))), "{refused:?}");
    drop(dir);
}

fn stopped(refused: Result<(), SignError>) -> PrepareError {
    match refused {
        Err(SignError::Stopped(why)) => why,
        other => panic!("{other:?}"),
    }
}
