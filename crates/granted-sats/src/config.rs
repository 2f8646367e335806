//! `config.toml` of the wallet: the network, the providers, how soon a payment is to confirm. The commands
//! write it, and a person may.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use granted_core::spend::Network;
use granted_core::text::Name;
use serde::{Deserialize, Serialize};

use crate::files::{self, FileError, Home};

/// The config's name in the wallet's folder.
pub const CONFIG: &str = "config.toml";

/// How many blocks a payment may take where nothing else is said.
const TARGET: u16 = 2;

/// The config.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The network where none is named. Default: signet.
    #[serde(default)]
    pub network: Network,
    /// Within how many blocks a payment is to confirm, by network: 1 to 1008.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fee_targets: BTreeMap<Network, u16>,
    /// The provider that is used where several could be, by network.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub r#use: BTreeMap<Network, Name>,
    /// The providers by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub providers: BTreeMap<Name, Entry>,
}

/// A provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// How it is spoken to.
    pub kind: Kind,
    /// Whose chain it tells.
    pub network: Network,
    /// Where it is.
    pub url: String,
    /// What it is used for. Default: everything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<Vec<Capability>>,
    /// The cookie file of a node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cookie: Option<PathBuf>,
    /// What an Esplora server knows the person by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bearer: Option<String>,
}

/// How a provider is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// HTTP.
    Esplora,
    /// Electrum's protocol.
    Electrum,
    /// The RPC interface of a node.
    Core,
}

/// What a provider is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Capability {
    /// All of them.
    #[serde(rename = "chain")]
    Chain,
    /// To see what the chain has.
    #[serde(rename = "chain.sync")]
    Sync,
    /// To know what fees are paid.
    #[serde(rename = "chain.fees")]
    Fees,
    /// To hand transactions over.
    #[serde(rename = "chain.broadcast")]
    Broadcast,
}

/// Why the config cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// Its text.
    #[error("`{}`: {why}", .path.display())]
    Text {
        /// The file.
        path: PathBuf,
        /// Why, with the line.
        why: String,
    },
    /// Its file.
    #[error(transparent)]
    File(#[from] FileError),
}

/// Why no provider is chosen.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChoiceError {
    /// Several could be.
    #[error("several providers of {network} serve {capability}: {}", listed(.names))]
    Several {
        /// The network.
        network: Network,
        /// For what.
        capability: Capability,
        /// Their names.
        names: Vec<String>,
    },
    /// None does.
    #[error("no provider of {network} serves {capability}")]
    None {
        /// The network.
        network: Network,
        /// For what.
        capability: Capability,
    },
}

/// A provider that was chosen, with its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// Its name.
    pub name: String,
    /// What it is.
    pub entry: Entry,
}

impl Config {
    /// Reads the config of a wallet; a file that is not there is an empty one.
    pub fn load(home: &Home) -> Result<Config, ConfigError> {
        let path = home.path().join(CONFIG);
        let Some(text) = files::read(home.folder(), CONFIG)? else { return Ok(Config::default()) };
        Config::parse(&text).map_err(|why| ConfigError::Text { path, why })
    }

    /// Writes it, durably.
    pub fn save(&self, home: &Home) -> Result<(), ConfigError> {
        let path = home.path().join(CONFIG);
        let text = toml::to_string(self);
        let text = text.map_err(|e| ConfigError::Text { path, why: e.to_string() })?;
        Ok(files::replace(home.folder(), CONFIG, &text)?)
    }

    /// Reads the config's text; the error names the line.
    pub fn parse(text: &str) -> Result<Config, String> {
        let config: Config = toml::from_str(text).map_err(|e: toml::de::Error| {
            let before = e.span().and_then(|span| text.get(..span.start));
            let line = before.map_or(1, |before| before.matches('\n').count() + 1);
            format!("line {line}: {}", e.message())
        })?;
        for (name, entry) in &config.providers {
            entry.check().map_err(|why| format!("provider `{name}`: {why}"))?;
        }
        for (network, name) in &config.r#use {
            let entry = config.providers.get(name);
            if entry.is_none_or(|entry| entry.network != *network) {
                return Err(format!("`use`: {network} has no provider `{name}`"));
            }
        }
        match config.fee_targets.values().find(|target| !(1..=1_008).contains(*target)) {
            Some(target) => Err(format!("`fee_targets`: {target} is not within 1 to 1008")),
            None => Ok(config),
        }
    }

    /// Within how many blocks a payment is to confirm.
    pub fn target(&self, network: Network) -> u16 {
        self.fee_targets.get(&network).copied().unwrap_or(TARGET)
    }

    /// The provider for something: of those that `given` names where it names any, else of those of the
    /// config, else the one that is built in.
    pub fn choose(
        &self,
        network: Network,
        given: &[Entry],
        capability: Capability,
    ) -> Result<Chosen, ChoiceError> {
        let chosen = |name: &str, entry: &Entry| Chosen { name: name.into(), entry: entry.clone() };
        let named: Vec<Chosen> = match given {
            [] => {
                let of_network = self.providers.iter().filter(|(_, e)| e.network == network);
                of_network.map(|(name, entry)| chosen(name.as_str(), entry)).collect()
            }
            given => given.iter().map(|entry| chosen(origin(&entry.url), entry)).collect(),
        };
        if named.is_empty() {
            return Ok(chosen("built in", &Entry::built_in(network)));
        }
        let serves = |chosen: &&Chosen| chosen.entry.serves(capability);
        let able: Vec<&Chosen> = named.iter().filter(serves).collect();
        let preferred = self.r#use.get(&network).filter(|_| given.is_empty());
        let by_name = |name: &str| able.iter().copied().find(|chosen| chosen.name == name);
        match (able.as_slice(), preferred.and_then(|name| by_name(name.as_str()))) {
            (_, Some(preferred)) => Ok(preferred.clone()),
            ([one], None) => Ok((*one).clone()),
            ([], None) => Err(ChoiceError::None { network, capability }),
            (several, None) if capability != Capability::Sync => {
                // What tells the chain is used for the rest too, if it can.
                let sync = self.choose(network, given, Capability::Sync);
                let sync = sync.ok().filter(|sync| several.contains(&sync));
                sync.ok_or_else(|| several_serve(network, capability, several))
            }
            (several, None) => Err(several_serve(network, capability, several)),
        }
    }
}

fn several_serve(network: Network, capability: Capability, able: &[&Chosen]) -> ChoiceError {
    let names = able.iter().map(|chosen| chosen.name.clone()).collect();
    ChoiceError::Several { network, capability, names }
}

fn listed(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}

impl Entry {
    /// A provider at a URL.
    pub fn new(kind: Kind, network: Network, url: &str) -> Result<Entry, String> {
        let (url, none) = (url.to_owned(), None);
        let entry = Entry { kind, network, url, capabilities: none, cookie: None, bearer: None };
        entry.check().map(|()| entry)
    }

    /// Where a network is asked for when nothing else is said.
    pub fn built_in(network: Network) -> Entry {
        let url = match network {
            Network::Mainnet => "https://mempool.space/api",
            Network::Signet => "https://mempool.space/signet/api",
            Network::Testnet4 => "https://mempool.space/testnet4/api",
            Network::Regtest => "http://localhost:3002",
        };
        let (kind, url) = (Kind::Esplora, url.to_owned());
        Entry { kind, network, url, capabilities: None, cookie: None, bearer: None }
    }

    fn check(&self) -> Result<(), String> {
        let schemes: &[&str] = match self.kind {
            Kind::Esplora => &["http", "https"],
            Kind::Electrum => &["tcp"],
            Kind::Core => &["http"],
        };
        let scheme = self.url.split_once("://").filter(|(_, rest)| !rest.is_empty());
        let plain = self.url.bytes().all(|b| b.is_ascii_graphic());
        if !plain || scheme.is_none_or(|(scheme, _)| !schemes.contains(&scheme)) {
            let wanted = schemes.join(":// or ");
            return Err(format!("the URL of this kind begins with {wanted}://"));
        }
        if self.cookie.is_some() && self.kind != Kind::Core {
            return Err("only a node has a `cookie`".into());
        }
        if self.bearer.is_some() && self.kind != Kind::Esplora {
            return Err("only an Esplora server has a `bearer`".into());
        }
        Ok(())
    }

    fn serves(&self, capability: Capability) -> bool {
        let has =
            |all: &Vec<Capability>| all.contains(&Capability::Chain) || all.contains(&capability);
        self.capabilities.as_ref().is_none_or(has)
    }
}

/// Scheme, host and port of a URL: all of it that is ever shown.
pub fn origin(url: &str) -> &str {
    let Some((scheme, rest)) = url.split_once("://") else { return "?" };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    match authority.rsplit_once('@') {
        None => url.get(..scheme.len() + 3 + authority.len()).unwrap_or("?"),
        // Without a user there is nothing to hide; with one, only what follows it is shown.
        Some((_, host)) => host,
    }
}

/// A URL without the user in it, and the user's name and password.
pub(crate) fn without_user(url: &str) -> (String, Option<(String, String)>) {
    let Some((scheme, rest)) = url.split_once("://") else { return (url.to_owned(), None) };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    match authority.rsplit_once('@') {
        None => (url.to_owned(), None),
        Some((user, host)) => {
            let (name, password) = user.split_once(':').unwrap_or((user, ""));
            (format!("{scheme}://{host}{path}"), Some((name.to_owned(), password.to_owned())))
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Kind::Esplora => "esplora",
            Kind::Electrum => "electrum",
            Kind::Core => "core",
        })
    }
}

impl FromStr for Kind {
    type Err = String;

    fn from_str(text: &str) -> Result<Kind, String> {
        let kinds = [Kind::Esplora, Kind::Electrum, Kind::Core];
        let named = kinds.into_iter().find(|kind| kind.to_string() == text);
        named.ok_or_else(|| "the kind of a provider is esplora, electrum or core".to_owned())
    }
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Capability::Chain => "chain",
            Capability::Sync => "chain.sync",
            Capability::Fees => "chain.fees",
            Capability::Broadcast => "chain.broadcast",
        })
    }
}

#[cfg(test)]
mod tests;
