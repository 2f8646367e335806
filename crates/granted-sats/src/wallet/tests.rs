use bdk_wallet::Update;
use bdk_wallet::bitcoin::absolute::LockTime;
use bdk_wallet::bitcoin::hashes::Hash as _;
use bdk_wallet::bitcoin::transaction::Version;
use bdk_wallet::bitcoin::{BlockHash, OutPoint, Transaction, TxIn, TxOut, Txid};
use bdk_wallet::chain::{BlockId, ConfirmationBlockTime};

use super::*;
use crate::Seed;
use crate::funded::{NETWORK, funded};

/// A wallet on disk.
pub(crate) fn on_disk(seed: &Seed) -> (tempfile::TempDir, Wallet) {
    let dir = tempfile::tempdir().unwrap();
    let wallet = crate::Home::new(Folder::new(dir.path().join("sats"))).wallet(NETWORK);
    wallet.create(&seed.public_keys(NETWORK).unwrap(), None).unwrap();
    (dir, wallet)
}

/// Has the state say that it gave out so many.
fn claim(wallet: &Wallet, index: i64) {
    let db = Connection::open(wallet.path()).unwrap();
    let sql = "update bdk_descriptor_last_revealed set last_revealed = ?1";
    assert_eq!(db.execute(sql, [index]).unwrap(), 1);
}

/// Has the state see a payment to the address of this number.
fn pays(wallet: &Wallet, index: u32) {
    let see = |state: &mut State| {
        let script_pubkey = state.peek_address(KeychainKind::External, index).script_pubkey();
        let input =
            TxIn { previous_output: OutPoint::new(Txid::all_zeros(), index), ..TxIn::default() };
        let output = TxOut { value: Amount::from_sat(60_000), script_pubkey };
        let (version, lock_time) = (Version::TWO, LockTime::ZERO);
        let paid = Transaction { version, lock_time, input: vec![input], output: vec![output] };
        state.apply_unconfirmed_txs([(paid, 1)]);
        Ok::<_, WalletError>(())
    };
    wallet.change(see).unwrap();
}

/// All addresses up to the last one are derived when a state is read.
#[test]
fn a_state_that_claims_too_many_addresses_is_not_read() {
    let (_dir, wallet) = on_disk(&funded().0);
    wallet.reveal().unwrap();
    claim(&wallet, i64::from(MAX_INDEX) + 1);
    let why = wallet.state().map(|_| ()).unwrap_err().to_string();
    assert!(why.contains("gave out more addresses than it can"), "{why}");
    claim(&wallet, 0);
    assert_eq!(wallet.reveal().unwrap().index, 1);
}

#[test]
fn the_last_address_is_the_last() {
    let (_dir, wallet) = on_disk(&funded().0);
    wallet.reveal().unwrap();
    claim(&wallet, MAX_INDEX.into());
    pays(&wallet, MAX_INDEX);
    let why = wallet.reveal().unwrap_err().to_string();
    assert!(why.contains("as many addresses as it can"), "{why}");
    assert!(wallet.state().is_ok());
}

/// A wallet that is restored from its words looks at no more addresses in a row that got nothing.
#[test]
fn no_address_is_given_that_a_restored_wallet_would_not_look_at() {
    let (_dir, wallet) = on_disk(&funded().0);
    let gap = u32::try_from(STOP_GAP).unwrap();
    let given = |count: u32| -> Vec<(u32, bool)> {
        let reveal = |_| wallet.reveal().map(|given| (given.index, given.again)).unwrap();
        (0..count).map(reveal).collect()
    };
    let fresh: Vec<_> = (0..gap).map(|index| (index, false)).collect();
    assert_eq!(given(gap), fresh);
    assert_eq!(given(2), [(0, true), (0, true)]);
    pays(&wallet, 0);
    assert_eq!(given(3), [(gap, false), (1, true), (1, true)]);
    pays(&wallet, 5);
    let fresh: Vec<_> = (gap + 1..gap + 6).map(|index| (index, false)).collect();
    assert_eq!(given(5), fresh);
    assert_eq!(given(1), [(1, true)]);
}

#[test]
fn no_provider_makes_it_give_out_more_addresses_than_it_can() {
    let (_dir, wallet) = on_disk(&funded().0);
    let beyond = |state: &mut State| {
        let _ = state.reveal_addresses_to(KeychainKind::Internal, MAX_INDEX + 1);
        Ok::<_, WalletError>(())
    };
    let why = wallet.change(beyond).unwrap_err().to_string();
    assert!(why.contains("more addresses than it can"), "{why}");
    assert_eq!(wallet.state().unwrap().derivation_index(KeychainKind::Internal), None);
}

/// A made-up payment in a block that there is: another provider has the block too.
#[test]
fn what_was_confirmed_is_forgotten_with_its_block() {
    let (_dir, wallet) = on_disk(&funded().0);
    let block = BlockId { height: 5, hash: BlockHash::from_byte_array([5; 32]) };
    let look = |payment: bool| {
        wallet.change(|state| {
            let script = state.peek_address(KeychainKind::External, 0).script_pubkey();
            let value = Amount::from_sat(60_000);
            let made_up = Transaction {
                version: Version::TWO,
                lock_time: LockTime::ZERO,
                // Without one it would be a coinbase.
                input: vec![TxIn {
                    previous_output: OutPoint::new(Txid::all_zeros(), 0),
                    ..TxIn::default()
                }],
                output: vec![TxOut { value, script_pubkey: script }],
            };
            let mut update = Update::default();
            if payment {
                let anchor = ConfirmationBlockTime { block_id: block, confirmation_time: 1 };
                update.tx_update.anchors = [(anchor, made_up.compute_txid())].into();
                update.tx_update.txs = vec![made_up.into()];
            }
            update.chain = Some(state.latest_checkpoint().insert(block));
            state.apply_update(update).unwrap();
            Ok::<_, WalletError>(())
        })
    };
    look(true).unwrap();
    assert_eq!(wallet.balance().unwrap().spendable.to_sat(), 60_000);
    wallet.forget_above(0).unwrap();
    look(false).unwrap();
    assert_eq!(wallet.balance().unwrap(), Balance::default());
}
