//! The wallet that a command is about, and its chain.

use std::sync::Arc;

use granted_core::spend::Network;
use granted_core::text::Shown;
use granted_core::time::{Clock as _, Stamp};
use granted_sats::chain::{Live, Progress, Providers, Step};
use granted_sats::config::{Config, Entry};
use granted_sats::prepare::PrepareError;
use granted_sats::wallet::Wallet;
use granted_sats::{Home, Seed};
use rustix::process::{DumpableBehavior, set_dumpable_behavior};
use serde::Serialize;

use super::super::failure::Failure;
use super::super::out::Out;
use super::Which;
use crate::clock::SystemClock;
use crate::home;
use crate::terminal::Terminal;

/// Where a wallet lies, and what is configured of it.
pub(super) struct Place {
    /// Its home.
    pub(super) home: Home,
    /// Its config.
    pub(super) config: Config,
    /// The network that is meant.
    pub(super) network: Network,
    /// Whether it was named, or a provider of it.
    chosen: bool,
    /// The providers that were given for this once.
    given: Vec<Entry>,
}

/// How a sync went that need not go well.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Synced {
    /// The chain was seen now.
    Fresh,
    /// It was not to be.
    Offline,
    /// It could not be.
    Failed,
}

impl Synced {
    pub(super) fn is_fresh(self) -> bool {
        self == Synced::Fresh
    }
}

impl Place {
    pub(super) fn open(which: &Which) -> Result<Place, Failure> {
        let home = Home::new(home::Home::sats_from_env()?);
        let config = Config::load(&home)?;
        let network = which.network.unwrap_or(config.network);
        let entry = |(kind, url): &(_, String)| Entry::new(*kind, network, url);
        let given: Result<Vec<Entry>, String> = which.provider.iter().map(entry).collect();
        let given = given.map_err(Failure::usage)?;
        let chosen = which.network.is_some() || !which.provider.is_empty();
        Ok(Place { home, config, network, chosen, given })
    }

    /// The same on another network, where none was named: nor a provider, which is of the network.
    pub(super) fn on(&self, network: Network) -> Place {
        let network = if self.chosen { self.network } else { network };
        let (home, config, given) = (self.home.clone(), self.config.clone(), self.given.clone());
        Place { home, config, network, chosen: self.chosen, given }
    }

    /// The flag that a command needs to mean this network.
    pub(super) fn flag(&self) -> String {
        match self.network == self.config.network {
            true => String::new(),
            false => format!(" --network {}", self.network),
        }
    }

    /// The provider that nobody chose: the one that is built in, where it is asked.
    pub(super) fn built_in(&self) -> Option<Entry> {
        let none = self.given.is_empty()
            && self.config.providers.values().all(|entry| entry.network != self.network);
        none.then(|| Entry::built_in(self.network))
    }

    /// The wallet of the network, which is there.
    pub(super) fn wallet(&self) -> Result<Wallet, Failure> {
        let wallet = self.home.wallet(self.network);
        wallet.check()?;
        Ok(wallet)
    }

    /// The wallet's chain.
    pub(super) fn live(&self, wallet: &Wallet, out: &Out) -> Live {
        Live {
            wallet: wallet.clone(),
            providers: Providers { config: self.config.clone(), given: self.given.clone() },
            now: seconds(SystemClock.now()),
            progress: progress(out),
        }
    }

    /// Has the wallet see the chain; that it could not is said, and what it saw before stands. Which
    /// provider is meant must be clear all the same.
    pub(super) fn look(
        &self,
        wallet: &Wallet,
        offline: bool,
        out: &Out,
    ) -> Result<Synced, Failure> {
        if offline {
            return Ok(Synced::Offline);
        }
        match self.sync(wallet, out) {
            Ok(()) => Ok(Synced::Fresh),
            Err(PrepareError::Choice(choice)) => Err(PrepareError::Choice(choice).into()),
            Err(error) => {
                let failure = Failure::from(error);
                out.remark(format_args!("note: {}", Shown(&failure.message)));
                if let Some(hint) = failure.hint {
                    out.remark(format_args!("hint: {}", Shown(&hint)));
                }
                out.remark("note: this is what the wallet saw before");
                Ok(Synced::Failed)
            }
        }
    }

    /// Has the wallet see the chain.
    pub(super) fn sync(&self, wallet: &Wallet, out: &Out) -> Result<(), PrepareError> {
        let synced = self.live(wallet, out).sync();
        if out.is_watched() {
            out.progress("");
        }
        synced
    }

    /// Asks for the password, which opens the seed.
    pub(super) fn unlock(&self, terminal: &Terminal) -> Result<Seed, Failure> {
        unseen();
        let password = terminal.password("password of the wallet: ")?;
        let seed = self.home.open_seed(&password)?;
        let wallet = self.home.wallet(self.network);
        if wallet.exists()? {
            wallet.check_keys(&seed.public_keys(self.network)?)?;
        }
        Ok(seed)
    }
}

/// Has no other process of this user read the memory of this one, nor a crash write it to disk.
pub(super) fn unseen() {
    // Where the system does not do that, there is nothing else to do.
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
}

/// The time in whole seconds.
pub(super) fn seconds(now: Stamp) -> u64 {
    u64::try_from(now.micros() / 1_000_000).unwrap_or(0)
}

/// Shows how far a sync is, where somebody watches.
fn progress(out: &Out) -> Progress {
    let watched = out.is_watched();
    Arc::new(move |step| {
        // A line a hundred steps is enough.
        let text = match step {
            Step::Addresses(count) if count % 10 == 0 => format!("looking: {count} addresses"),
            Step::Block(height, of) if height % 100 == 0 => {
                format!("looking: block {height} of {of}")
            }
            _ => return,
        };
        if watched {
            Out::new(false).progress(text);
        }
    })
}
