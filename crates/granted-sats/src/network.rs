//! The networks as the bitcoin libraries have them, and their addresses.

use bdk_wallet::bitcoin::address::{NetworkUnchecked, ParseError};
use bdk_wallet::bitcoin::{self, Amount, BlockHash, NetworkKind};
use granted_core::spend::Network;

/// Why a text is no address to pay to.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// It is no address at all.
    #[error("`{0}` is no bitcoin address")]
    NoAddress(String),
    /// It belongs to another network.
    #[error("`{text}` is no address of {network}")]
    Elsewhere {
        /// The text.
        text: String,
        /// The network that was meant.
        network: Network,
    },
}

/// The network, as the libraries have it.
pub fn bitcoin(network: Network) -> bitcoin::Network {
    match network {
        Network::Mainnet => bitcoin::Network::Bitcoin,
        Network::Signet => bitcoin::Network::Signet,
        Network::Testnet4 => bitcoin::Network::Testnet4,
        Network::Regtest => bitcoin::Network::Regtest,
    }
}

/// Which keys a network has: those of BIP-86's coin 0, or of coin 1.
pub fn kind(network: Network) -> NetworkKind {
    bitcoin(network).into()
}

/// The hash of a network's first block.
pub fn genesis(network: Network) -> BlockHash {
    bitcoin::constants::genesis_block(bitcoin(network)).block_hash()
}

/// Reads an address of this network, in whatever case it is written. What it shows is the one spelling
/// of it.
pub fn address(network: Network, text: &str) -> Result<bitcoin::Address, AddressError> {
    let parsed: Result<bitcoin::Address<NetworkUnchecked>, ParseError> = text.parse();
    let address = parsed.map_err(|_| AddressError::NoAddress(text.to_owned()))?;
    address
        .require_network(bitcoin(network))
        .map_err(|_| AddressError::Elsewhere { text: text.to_owned(), network })
}

/// Checks that the network relays an amount to an address; the least that it does otherwise.
pub fn check_amount(address: &bitcoin::Address, amount: Amount) -> Result<(), Amount> {
    let least = address.script_pubkey().minimal_non_dust();
    match amount < least {
        true => Err(least),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_belongs_to_its_network_and_has_one_spelling() {
        let signet = "tb1pvlnw9n2zuefmxzwmuz0763uajw8nmaattkhd8002g3ekejjspxtshu2q9n";
        let read = address(Network::Signet, &signet.to_uppercase()).unwrap();
        assert_eq!(read.to_string(), signet);
        for network in [Network::Mainnet, Network::Regtest] {
            let elsewhere = AddressError::Elsewhere { text: signet.into(), network };
            assert_eq!(address(network, signet), Err(elsewhere));
        }
        let none = AddressError::NoAddress("tb1q".into());
        assert_eq!(address(Network::Signet, "tb1q"), Err(none));
    }

    #[test]
    fn the_least_that_is_relayed_is_enough() {
        let address = address(Network::Signet, crate::funded::ELSEWHERE).unwrap();
        let check = |sats| check_amount(&address, Amount::from_sat(sats));
        let least = Amount::from_sat(330);
        assert_eq!((check(330), check(329), check(0)), (Ok(()), Err(least), Err(least)));
    }

    #[test]
    fn only_mainnet_has_its_keys() {
        for network in Network::ALL {
            assert_eq!(kind(network).is_mainnet(), network == Network::Mainnet);
        }
    }
}
