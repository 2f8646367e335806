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

/// All addresses up to the last one are derived when a state is read.
#[test]
fn a_state_that_claims_too_many_addresses_is_not_read() {
    let (_dir, wallet) = on_disk(&funded().0);
    wallet.reveal().unwrap();
    claim(&wallet, i64::from(MAX_INDEX) + 1);
    let why = wallet.state().map(|_| ()).unwrap_err().to_string();
    assert!(why.contains("gave out more addresses than it can"), "{why}");
    claim(&wallet, 0);
    assert_eq!(wallet.reveal().unwrap().1, 1);
}

#[test]
fn the_last_address_is_the_last() {
    let (_dir, wallet) = on_disk(&funded().0);
    wallet.reveal().unwrap();
    claim(&wallet, MAX_INDEX.into());
    let why = wallet.reveal().unwrap_err().to_string();
    assert!(why.contains("as many addresses as it can"), "{why}");
    assert!(wallet.state().is_ok());
}
