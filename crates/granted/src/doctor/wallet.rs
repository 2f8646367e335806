//! The wallet: its seed, its config, and of each network its state and what waits to be sent.

use std::path::Path;

use granted_core::spend::Network;
use granted_sats::config::{CONFIG, Config, ConfigError};
use granted_sats::{FileError, Home, SeedError};

use super::Check;
use super::places::FILE;
use crate::home;

const SEED: &str = "a sealed seed that only you can read";
const STATE: &str = "a state that opens; that it is of your seed is seen with the password";
const RECORDS: &str = "records that are what they say";

/// A line for each thing of the wallet; none where there is no wallet.
pub(super) fn checks() -> Vec<Check> {
    let folder = match home::Home::sats_from_env() {
        Ok(folder) => folder,
        Err(e) => return vec![Check::new("wallet", None, FILE).wrong(e, None)],
    };
    let home = Home::new(folder);
    if !home.path().exists() {
        return Vec::new();
    }
    let mut checks = vec![seed(&home), config(&home)];
    for network in Network::ALL {
        checks.extend(of_network(&home, network));
    }
    checks
}

fn seed(home: &Home) -> Check {
    let check = Check::new("seed", Some(&home.seed_path()), SEED);
    match home.check_seed() {
        Ok(true) => check,
        Ok(false) => check.found("not there"),
        Err(SeedError::File(error)) => file(check, error),
        Err(error) => check.wrong(error, None),
    }
}

fn config(home: &Home) -> Check {
    let check = Check::new("sats", Some(&home.path().join(CONFIG)), FILE);
    match Config::load(home) {
        Ok(config) => check.found(format!("providers: {}", config.providers.len())),
        Err(ConfigError::File(error)) => file(check, error),
        Err(error) => check.wrong(error, None),
    }
}

/// The state of a network and its records; nothing of one that the wallet is not on.
fn of_network(home: &Home, network: Network) -> Vec<Check> {
    let wallet = home.wallet(network);
    let check = Check::new(network.as_str(), Some(&wallet.path()), STATE);
    let check = match wallet.exists() {
        Ok(false) if !wallet.path().exists() => return Vec::new(),
        Ok(false) => check.wrong("there is no wallet in it", None),
        Ok(true) => check,
        Err(error) => check.wrong(error, None),
    };
    let name = format!("{network} payments");
    let records = Check::new(name, wallet.path().parent().map(Path::new), RECORDS);
    let records = match wallet.records().all() {
        Err(error) => records.wrong(error, None),
        Ok((good, bad)) => {
            let pending = good.iter().filter(|record| !record.is_broadcast).count();
            let found = format!("kept: {}, not known to be sent: {pending}", good.len());
            match bad.first() {
                None => records.found(found),
                Some(error) => records.found(found).wrong(error, None),
            }
        }
    };
    vec![check, records]
}

fn file(check: Check, error: FileError) -> Check {
    let mend = error.mend.clone();
    check.wrong(error, mend)
}
