//! A wallet that holds a coin, for tests.

use bdk_wallet::bitcoin::absolute::LockTime;
use bdk_wallet::bitcoin::hashes::Hash as _;
use bdk_wallet::bitcoin::transaction::Version;
use bdk_wallet::bitcoin::{
    Address, Amount, FeeRate, OutPoint, Psbt, Transaction, TxIn, TxOut, Txid,
};
use bdk_wallet::{KeychainKind, Wallet};
use granted_core::spend::Network;

use crate::{Seed, network};

pub(crate) const NETWORK: Network = Network::Signet;

/// An address of nobody here.
pub(crate) const ELSEWHERE: &str = "tb1pvlnw9n2zuefmxzwmuz0763uajw8nmaattkhd8002g3ekejjspxtshu2q9n";

/// The seed, and a wallet of it that holds a million.
pub(crate) fn funded() -> (Seed, Wallet) {
    let phrase = "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon \
                  abandon about";
    let seed = Seed::parse(phrase).unwrap();
    let keys = seed.public_keys(NETWORK).unwrap();
    let create = Wallet::create(keys.external, keys.internal).network(network::bitcoin(NETWORK));
    let mut wallet = create.create_wallet_no_persist().unwrap();
    let script = wallet.reveal_next_address(KeychainKind::External).script_pubkey();
    let funding = Transaction {
        version: Version::TWO,
        lock_time: LockTime::ZERO,
        // Of a transaction that nobody needs to know; without one it would be a coinbase.
        input: vec![TxIn {
            previous_output: OutPoint::new(Txid::all_zeros(), 0),
            ..TxIn::default()
        }],
        output: vec![TxOut { value: Amount::from_sat(1_000_000), script_pubkey: script }],
    };
    wallet.apply_unconfirmed_txs([(funding, 1)]);
    (seed, wallet)
}

/// A PSBT of the wallet that pays 50,000.
pub(crate) fn pays(wallet: &mut Wallet, to: &Address) -> Psbt {
    let mut builder = wallet.build_tx();
    builder
        .add_recipient(to.script_pubkey(), Amount::from_sat(50_000))
        .fee_rate(FeeRate::from_sat_per_vb(2).unwrap());
    builder.finish().unwrap()
}

pub(crate) fn elsewhere() -> Address {
    network::address(NETWORK, ELSEWHERE).unwrap()
}
