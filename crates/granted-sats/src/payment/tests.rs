use bdk_wallet::bitcoin::TxOut;

use super::*;
use crate::funded::{NETWORK, elsewhere, funded, pays};

/// The place of the payment and that of the change.
fn places(psbt: &Psbt) -> (usize, usize) {
    let outputs = &psbt.unsigned_tx.output;
    assert_eq!(outputs.len(), 2);
    let paid = outputs.iter().position(|output| output.value.to_sat() == 50_000).unwrap();
    (paid, 1 - paid)
}

#[test]
fn what_is_paid_is_told() {
    let (_, mut wallet) = funded();
    let psbt = pays(&mut wallet, &elsewhere());
    let payment = derive(&wallet, &psbt, NETWORK).unwrap();
    assert_eq!((payment.recipient, payment.amount.to_sat()), (elsewhere(), 50_000));
    assert_eq!(payment.fee, psbt.fee().unwrap());
    // To an address that was given out it is a payment all the same.
    let own = wallet.reveal_next_address(KeychainKind::External).address;
    let psbt = pays(&mut wallet, &own);
    assert_eq!(derive(&wallet, &psbt, NETWORK).unwrap().recipient, own);
}

#[test]
fn change_is_only_what_leads_to_its_script() {
    let (_, mut wallet) = funded();
    let good = pays(&mut wallet, &elsewhere());
    let (paid, change) = places(&good);
    let mut bare = good.clone();
    bare.outputs[change].tap_key_origins.clear();
    assert_eq!(derive(&wallet, &bare, NETWORK), Err(PaymentError::Recipients(2)));
    // The hints of the change beside another's script.
    let mut lying = good.clone();
    lying.outputs[paid] = lying.outputs[change].clone();
    assert_eq!(derive(&wallet, &lying, NETWORK).unwrap().recipient, elsewhere());
    lying.unsigned_tx.output[change].script_pubkey = elsewhere().script_pubkey();
    assert_eq!(derive(&wallet, &lying, NETWORK), Err(PaymentError::Recipients(2)));
    // An address that was given out is not change, whatever its hints.
    let mut given = good.clone();
    let own = wallet.peek_address(KeychainKind::External, 0).script_pubkey();
    given.unsigned_tx.output[change].script_pubkey = own;
    assert_eq!(derive(&wallet, &given, NETWORK), Err(PaymentError::Recipients(2)));
    let mut nobody = good;
    nobody.unsigned_tx.output.remove(paid);
    nobody.outputs.remove(paid);
    assert_eq!(derive(&wallet, &nobody, NETWORK), Err(PaymentError::Recipients(0)));
}

/// A wallet finds no coin beyond the last address that it gave out.
#[test]
fn change_beyond_what_was_given_out_is_a_payment() {
    let (_, mut wallet) = funded();
    let good = pays(&mut wallet, &elsewhere());
    let (_, change) = places(&good);
    let mut far = good.clone();
    let info = wallet.peek_address(KeychainKind::Internal, 1_000);
    far.unsigned_tx.output[change].script_pubkey = info.script_pubkey();
    for (_, (_, path)) in far.outputs[change].tap_key_origins.values_mut() {
        *path = "m/86'/1'/0'/1/1000".parse().unwrap();
    }
    assert_eq!(derive(&wallet, &far, NETWORK), Err(PaymentError::Recipients(2)));
    let _ = wallet.reveal_addresses_to(KeychainKind::Internal, 1_000);
    assert_eq!(derive(&wallet, &far, NETWORK).unwrap().recipient, elsewhere());
}

#[test]
fn what_is_spent_must_be_the_wallets_and_add_up() {
    let (_, mut wallet) = funded();
    let good = pays(&mut wallet, &elsewhere());
    let with = |change: &dyn Fn(&mut Psbt)| {
        let mut psbt = good.clone();
        change(&mut psbt);
        derive(&wallet, &psbt, NETWORK)
    };
    let spent = |psbt: &mut Psbt, output: Option<TxOut>| psbt.inputs[0].witness_utxo = output;
    let value = Amount::from_sat(1_000_000);
    let foreign = TxOut { value, script_pubkey: elsewhere().script_pubkey() };
    assert_eq!(with(&|psbt| spent(psbt, None)), Err(PaymentError::NoOutput));
    assert_eq!(with(&|psbt| spent(psbt, Some(foreign.clone()))), Err(PaymentError::Foreign));
    let own = good.inputs[0].witness_utxo.clone().unwrap();
    let little = TxOut { value: Amount::from_sat(49_999), ..own };
    assert_eq!(with(&|psbt| spent(psbt, Some(little.clone()))), Err(PaymentError::Sum));
    let huge = |psbt: &mut Psbt| psbt.unsigned_tx.output[0].value = Amount::from_sat(u64::MAX);
    assert_eq!(with(&huge), Err(PaymentError::Sum));
    assert_eq!(with(&|psbt| psbt.inputs.clear()), Err(PaymentError::Sum));
    let (paid, _) = places(&good);
    let strange = |psbt: &mut Psbt| psbt.unsigned_tx.output[paid].script_pubkey = ScriptBuf::new();
    assert_eq!(with(&strange), Err(PaymentError::NoAddress));
}
