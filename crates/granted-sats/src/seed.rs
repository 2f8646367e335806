//! The seed: twelve or twenty-four words, what is derived of them, and how they lie on disk.

mod sealed;

use std::fmt;

use bdk_wallet::KeychainKind;
use bdk_wallet::bitcoin::bip32::Xpriv;
use bdk_wallet::descriptor::DescriptorError;
use bdk_wallet::keys::KeyMap;
use bdk_wallet::keys::bip39::{Language, Mnemonic};
use bdk_wallet::template::{Bip86, DescriptorTemplate as _};
use granted_store::entropy;
use zeroize::Zeroizing;

use crate::network;
use granted_core::spend::Network;
pub use sealed::SealError;

/// The words. Wiped when they go.
#[derive(Clone, PartialEq, Eq)]
pub struct Seed(Mnemonic);

/// How many words a seed has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Length {
    /// 128 bits.
    #[default]
    Twelve,
    /// 256 bits.
    TwentyFour,
}

/// Why words are no seed. Nothing of them is told.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PhraseError {
    /// There are too few or too many.
    #[error("a phrase has 12 or 24 words, and this one has {0}")]
    Count(usize),
    /// One of them is not in the list.
    #[error("word {0} is not in BIP-39's English list")]
    Word(usize),
    /// They do not go together.
    #[error(
        "these words do not go together: one is wrong, or two are exchanged (the checksum fails)"
    )]
    Checksum,
}

/// The public half of an account: all that lies on disk of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicKeys {
    /// The descriptor of addresses that are given out.
    pub external: String,
    /// The descriptor of change.
    pub internal: String,
}

/// The private half of an account. It lives while a transaction is signed.
pub struct PrivateKeys {
    /// Of addresses that were given out.
    pub external: KeyMap,
    /// Of change.
    pub internal: KeyMap,
}

/// The keys could not be derived.
#[derive(Debug, thiserror::Error)]
#[error("no keys can be derived: {0}")]
pub struct DeriveError(#[from] DescriptorError);

impl Seed {
    /// A new one.
    pub fn generate(length: Length) -> std::io::Result<Seed> {
        let entropy = Zeroizing::new(entropy::random::<32>()?);
        let bits = match length {
            Length::Twelve => entropy.get(..16),
            Length::TwentyFour => entropy.get(..),
        };
        Mnemonic::from_entropy_in(Language::English, bits.unwrap_or_default())
            .map(Seed)
            .map_err(std::io::Error::other)
    }

    /// Reads the words, in any case and with any spaces between them.
    pub fn parse(phrase: &str) -> Result<Seed, PhraseError> {
        let mut words = Zeroizing::new(String::with_capacity(phrase.len() + 1));
        for word in phrase.split_whitespace() {
            words.push_str(word);
            words.push(' ');
        }
        words.make_ascii_lowercase();
        let count = words.split_whitespace().count();
        if !matches!(count, 12 | 24) {
            return Err(PhraseError::Count(count));
        }
        let parsed = Mnemonic::parse_in_normalized(Language::English, words.trim_end());
        parsed.map(Seed).map_err(|e| match e {
            bip39::Error::UnknownWord(index) => PhraseError::Word(index.saturating_add(1)),
            _ => PhraseError::Checksum,
        })
    }

    /// The words, in their order.
    pub fn words(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.0.words()
    }

    /// The words as one text.
    fn phrase(&self) -> Zeroizing<String> {
        let mut phrase = Zeroizing::new(String::with_capacity(24 * 9));
        for (index, word) in self.words().enumerate() {
            if index > 0 {
                phrase.push(' ');
            }
            phrase.push_str(word);
        }
        phrase
    }

    /// The public keys of a network's first BIP-86 account.
    pub fn public_keys(&self, network: Network) -> Result<PublicKeys, DeriveError> {
        let public = |keychain| Ok::<_, DeriveError>(self.derive(network, keychain)?.0);
        Ok(PublicKeys {
            external: public(KeychainKind::External)?,
            internal: public(KeychainKind::Internal)?,
        })
    }

    /// The private keys of the same account.
    pub(crate) fn private_keys(&self, network: Network) -> Result<PrivateKeys, DeriveError> {
        let private = |keychain| Ok::<_, DeriveError>(self.derive(network, keychain)?.1);
        Ok(PrivateKeys {
            external: private(KeychainKind::External)?,
            internal: private(KeychainKind::Internal)?,
        })
    }

    fn derive(
        &self,
        network: Network,
        keychain: KeychainKind,
    ) -> Result<(String, KeyMap), DescriptorError> {
        let seed = Zeroizing::new(self.0.to_seed_normalized(""));
        let mut master = Xpriv::new_master(network::kind(network), seed.as_slice())?;
        let derived = Bip86(master, keychain).build(network::kind(network));
        master.private_key.non_secure_erase();
        let (descriptor, keys, _) = derived?;
        Ok((descriptor.to_string(), keys))
    }
}

impl fmt::Debug for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seed(…)")
    }
}

#[cfg(test)]
mod tests;
