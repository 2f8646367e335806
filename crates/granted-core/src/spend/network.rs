//! The networks of bitcoin that a wallet is for.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A network. `testnet` (the third) is none of them.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Network {
    /// Where bitcoin is money.
    Mainnet,
    /// The test network whose blocks are signed.
    #[default]
    Signet,
    /// The fourth test network.
    Testnet4,
    /// A network of one's own.
    Regtest,
}

/// The text names no network.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NetworkError {
    /// The third test network.
    #[error("`testnet` is not served: use `testnet4` or `signet`")]
    Testnet3,
    /// Something else.
    #[error("a network is `mainnet`, `signet`, `testnet4` or `regtest`")]
    Unknown,
}

impl Network {
    /// Every network.
    pub const ALL: [Network; 4] =
        [Network::Mainnet, Network::Signet, Network::Testnet4, Network::Regtest];

    /// Its name, in files and digests too.
    pub fn as_str(self) -> &'static str {
        match self {
            Network::Mainnet => "mainnet",
            Network::Signet => "signet",
            Network::Testnet4 => "testnet4",
            Network::Regtest => "regtest",
        }
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Network {
    type Err = NetworkError;

    /// Reads a name; `bitcoin` is another one for `mainnet`.
    fn from_str(text: &str) -> Result<Network, NetworkError> {
        match text {
            "bitcoin" => Ok(Network::Mainnet),
            "testnet" | "testnet3" => Err(NetworkError::Testnet3),
            _ => {
                let named = Network::ALL.into_iter().find(|network| network.as_str() == text);
                named.ok_or(NetworkError::Unknown)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_both_ways() {
        for network in Network::ALL {
            assert_eq!(network.to_string().parse(), Ok(network));
            assert_eq!(serde_json::to_string(&network).unwrap(), format!("\"{network}\""));
        }
        assert_eq!("bitcoin".parse(), Ok(Network::Mainnet));
        assert_eq!("testnet".parse::<Network>(), Err(NetworkError::Testnet3));
        assert_eq!("Signet".parse::<Network>(), Err(NetworkError::Unknown));
        assert!(serde_json::from_str::<Network>("\"bitcoin\"").is_err());
        assert_eq!(Network::default(), Network::Signet);
    }
}
