//! The watch-only wallet of one network: its state on disk, and what it shows.
//!
//! The state is BDK's, in its own SQLite tables. Whoever changes it holds `wallet.lock` from reading to
//! writing, so that no two processes give out the same address; no lock is held while a provider is
//! waited for. Readers take none. Whoever signs holds `signing.lock` from the last look at the coins until the
//! record is written.

mod history;

use std::path::PathBuf;

use bdk_wallet::bitcoin::Amount;
use bdk_wallet::rusqlite::{Connection, OpenFlags};
use bdk_wallet::{KeychainKind, PersistedWallet, Wallet as Bdk};
use granted_core::spend::Network;
use granted_core::spend::agent::Address;
use granted_core::spend::chain::Turn;
use granted_store::custody::{Folder, Kept};
use granted_store::open::{self, OpenError};

use crate::chain::STOP_GAP;
use crate::files::{FileError, failed};
use crate::network;
use crate::seed::PublicKeys;
use crate::unsure::unsure;

pub use history::{Direction, Entry, Seen, history, seen};

/// The state.
const STATE: &str = "wallet.sqlite";

/// Held by whoever changes it.
const LOCK: &str = "wallet.lock";

/// Held by whoever signs.
const SIGNING: &str = "signing.lock";

/// The highest number of an address. All up to the last one that was given out are derived each time that
/// the state is read.
const MAX_INDEX: u32 = 10_000;

/// How many addresses of each kind a first look asks for. Should a provider claim payments to all of them, as
/// many are left.
pub(crate) const FIRST_LOOK: u32 = 5_000;

/// How long SQLite waits for another process that writes.
const BUSY_MS: u64 = 10_000;

/// The wallet of one network, on disk.
#[derive(Clone, Debug)]
pub struct Wallet {
    folder: Folder,
    network: Network,
}

/// The wallet's state, as it was read.
pub type State = PersistedWallet<Connection>;

/// Why the state was not read or changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WalletError {
    /// There is none.
    #[error("there is no wallet for {0}")]
    None(Network),
    /// There is one already.
    #[error("there is a wallet for {0} already")]
    Exists(Network),
    /// A file or folder.
    #[error(transparent)]
    File(#[from] FileError),
    /// The state is damaged, or SQLite does not do its part.
    #[error("`{}`: {why}", .path.display())]
    State {
        /// The file.
        path: PathBuf,
        /// Why.
        why: String,
    },
}

/// What the wallet holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Balance {
    /// Confirmed, or of payments that are wholly the wallet's.
    pub spendable: Amount,
    /// Others may still take it back; it is not spent.
    pub pending: Amount,
}

/// An address to be paid at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revealed {
    /// The address.
    pub address: Address,
    /// Its number, from 0.
    pub index: u32,
    /// Whether it was given before.
    pub again: bool,
}

/// Whether a state is of these keys.
pub(crate) fn is_of(state: &Bdk, keys: &PublicKeys) -> bool {
    let is = |keychain, key: &str| state.public_descriptor(keychain).to_string() == key;
    is(KeychainKind::External, &keys.external) && is(KeychainKind::Internal, &keys.internal)
}

impl Wallet {
    pub(crate) fn new(folder: Folder, network: Network) -> Wallet {
        Wallet { folder, network }
    }

    /// Its network.
    pub fn network(&self) -> Network {
        self.network
    }

    /// Where it lies.
    pub fn path(&self) -> PathBuf {
        self.folder.path().join(STATE)
    }

    /// Its folder.
    pub(crate) fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Makes it of these keys. `born` is when they were made: no earlier block can pay them.
    pub fn create(&self, keys: &PublicKeys, born: Option<u64>) -> Result<(), WalletError> {
        self.folder.make().map_err(FileError::from)?;
        let _lock = self.lock(LOCK)?;
        let mut db = self.connect(true)?;
        let born = i64::try_from(born.unwrap_or(0)).unwrap_or(0);
        let table = "create table if not exists sats_wallet (born integer not null)";
        db.execute_batch(table).map_err(|e| self.broken(e))?;
        // First, so that a wallet which is there has it.
        let noted: i64 = self.ask(&db, "select count(*) from sats_wallet")?;
        if noted == 0 {
            let sql = "insert into sats_wallet (born) values (?1)";
            db.execute(sql, [born]).map_err(|e| self.broken(e))?;
        }
        let params = Bdk::create(keys.external.clone(), keys.internal.clone())
            .network(network::bitcoin(self.network));
        match params.create_wallet(&mut db) {
            Ok(_) => Ok(()),
            Err(bdk_wallet::CreateWithPersistError::DataAlreadyExists(_)) => {
                Err(WalletError::Exists(self.network))
            }
            Err(e) => Err(self.broken(e)),
        }
    }

    /// Checks that there is one, whose state can be opened.
    pub fn check(&self) -> Result<(), WalletError> {
        self.connect(false).map(drop)
    }

    /// Whether it is there.
    pub fn exists(&self) -> Result<bool, WalletError> {
        match self.state() {
            Ok(_) => Ok(true),
            Err(WalletError::None(_)) => Ok(false),
            Err(e) => Err(e),
        }
    }

    /// When its keys were made, in seconds; `None` if that is not known.
    pub(crate) fn born(&self) -> Result<Option<u64>, WalletError> {
        let born = self.ask(&self.connect(false)?, "select born from sats_wallet")?;
        Ok(u64::try_from(born).ok().filter(|born| *born > 0))
    }

    fn ask(&self, db: &Connection, sql: &str) -> Result<i64, WalletError> {
        db.query_row(sql, [], |row| row.get(0)).map_err(|e| self.broken(e))
    }

    /// Reads the state. What is changed in it goes with it.
    pub fn state(&self) -> Result<State, WalletError> {
        self.load(&mut self.connect(false)?)
    }

    /// Checks that the state is of these keys, which come from the seed: a state of others would have its
    /// change, and what is received, go to somebody else.
    pub fn check_keys(&self, keys: &PublicKeys) -> Result<(), WalletError> {
        let state = self.state()?;
        match is_of(&state, keys) {
            true => Ok(()),
            false => Err(self.broken("its keys are not those of the seed")),
        }
    }

    /// Changes the state, durably; nothing is changed if `act` fails.
    pub fn change<T, E: From<WalletError>>(
        &self,
        act: impl FnOnce(&mut State) -> Result<T, E>,
    ) -> Result<T, E> {
        let _lock = self.lock(LOCK)?;
        let mut db = self.connect(false)?;
        let mut state = self.load(&mut db)?;
        let done = act(&mut state)?;
        // A provider may claim payments to any number of addresses, and such a state could not be read.
        let revealed = [KeychainKind::External, KeychainKind::Internal];
        if revealed.iter().any(|kind| state.derivation_index(*kind) > Some(MAX_INDEX)) {
            return Err(self.broken("it would have given out more addresses than it can").into());
        }
        state.persist(&mut db).map_err(|e| self.broken(e))?;
        Ok(done)
    }

    /// Forgets the blocks above a height and what was confirmed in them, durably; with 0, all that were seen, so that the next look at the
    /// chain is like the first.
    pub fn forget_above(&self, height: u32) -> Result<(), WalletError> {
        let _lock = self.lock(LOCK)?;
        let mut db = self.connect(false)?;
        let mut forget = || {
            let change = db.transaction()?;
            // The library only ever adds to its chain, and to what it saw confirmed in which block.
            change.execute("delete from bdk_anchors where block_height > ?1", [height])?;
            change.execute("delete from bdk_blocks where block_height > ?1", [height])?;
            change.commit()
        };
        forget().map_err(|e| self.broken(e))
    }

    /// An address to be paid at. Each call gives another one, until as many in a row have got nothing as
    /// are looked through where the wallet is restored from its words: what came to the next one would not
    /// be found there.
    pub fn reveal(&self) -> Result<Revealed, WalletError> {
        let kind = KeychainKind::External;
        let (info, again) = self.change(|state| {
            let next = state.next_derivation_index(kind);
            let used = state.spk_index().last_used_index(kind).map_or(0, |last| last + 1);
            let unused = next.saturating_sub(used);
            if usize::try_from(unused).is_ok_and(|unused| unused < STOP_GAP) {
                return match next > MAX_INDEX {
                    true => Err(self.broken("it has given out as many addresses as it can")),
                    false => Ok((state.reveal_next_address(kind), false)),
                };
            }
            Ok((state.next_unused_address(kind), true))
        })?;
        let address = Address::new(info.address.to_string()).map_err(|e| self.broken(e))?;
        Ok(Revealed { address, index: info.index, again })
    }

    /// What it holds, by what it last saw.
    pub fn balance(&self) -> Result<Balance, WalletError> {
        let state = self.state()?;
        let balance = state.balance();
        let unsure: Amount = unsure(&state).iter().map(|output| output.txout.value).sum();
        let pending = unsure + balance.immature;
        let spendable = balance.total().checked_sub(pending).unwrap_or(Amount::ZERO);
        Ok(Balance { spendable, pending })
    }

    fn load(&self, db: &mut Connection) -> Result<State, WalletError> {
        let table = "select name from sqlite_schema where name = 'bdk_descriptor_last_revealed'";
        let sql = "select coalesce(max(last_revealed), 0) from bdk_descriptor_last_revealed";
        let is_there = db.prepare(table).and_then(|mut asked| asked.exists([]));
        if is_there.map_err(|e| self.broken(e))? && self.ask(db, sql)? > i64::from(MAX_INDEX) {
            return Err(self.broken("it says that it gave out more addresses than it can"));
        }
        let params = Bdk::load().check_network(network::bitcoin(self.network));
        let loaded = params.load_wallet(db).map_err(|e| self.broken(e))?;
        loaded.ok_or(WalletError::None(self.network))
    }

    /// Opens the state through the way that custody allows.
    fn connect(&self, create: bool) -> Result<Connection, WalletError> {
        let how = if create { open::ensure_at } else { open::write_at };
        match self.folder.file(STATE, how).and_then(Kept::sound) {
            Ok(_) => {}
            Err(OpenError::Missing(_)) => return Err(WalletError::None(self.network)),
            Err(e) => return Err(FileError::from(e).into()),
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let db =
            Connection::open_with_flags(self.real_path()?, flags).map_err(|e| self.broken(e))?;
        let wait = std::time::Duration::from_millis(BUSY_MS);
        db.busy_timeout(wait).map_err(|e| self.broken(e))?;
        Ok(db)
    }

    /// The path with the links on the way to the home resolved: SQLite follows none.
    fn real_path(&self) -> Result<PathBuf, WalletError> {
        let folder = self.folder.path();
        let real = folder.canonicalize().map_err(|e| failed(folder, &e))?;
        Ok(real.join(STATE))
    }

    /// Waits until nobody else signs. To be held from the last look at the coins of a payment until its
    /// record is written: two that were prepared on the same coin are never both signed.
    pub fn turn(&self) -> Result<Turn, WalletError> {
        self.lock(SIGNING).map(Turn::new)
    }

    fn lock(&self, name: &str) -> Result<std::fs::File, WalletError> {
        let lock = self.folder.file(name, open::ensure_at);
        let lock = lock.and_then(Kept::sound).map_err(|e| match e {
            OpenError::Missing(_) => WalletError::None(self.network),
            e => FileError::from(e).into(),
        })?;
        lock.handle.lock().map_err(|e| failed(&lock.path, &e))?;
        Ok(lock.handle)
    }

    fn broken(&self, error: impl std::fmt::Display) -> WalletError {
        WalletError::State { path: self.path(), why: error.to_string() }
    }
}

#[cfg(test)]
pub(crate) mod tests;
