//! The seed: twelve or twenty-four words, what is derived of them, and how they lie on disk.

mod sealed;

use std::fmt;

use bdk_wallet::KeychainKind;
use bdk_wallet::bitcoin::PrivateKey;
use bdk_wallet::bitcoin::bip32::{self, ChildNumber, DerivationPath, Fingerprint, Xpriv, Xpub};
use bdk_wallet::bitcoin::psbt::{GetKey, KeyRequest};
use bdk_wallet::bitcoin::secp256k1::{Secp256k1, Signing};
use bdk_wallet::descriptor::DescriptorError;
use bdk_wallet::keys::bip39::{Language, Mnemonic};
use bdk_wallet::template::{Bip86Public, DescriptorTemplate as _};
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

/// The private half of an account: it lives while a transaction is signed, and is wiped when it goes. It
/// signs for the account's own addresses and for nothing else.
pub(crate) struct AccountKey {
    key: Xpriv,
    master: Fingerprint,
    path: DerivationPath,
}

/// The keys could not be derived.
#[derive(Debug, thiserror::Error)]
pub enum DeriveError {
    /// As BIP-32 has it.
    #[error("no keys can be derived: {0}")]
    Key(#[from] bip32::Error),
    /// As descriptors have it.
    #[error("no keys can be derived: {0}")]
    Descriptor(#[from] DescriptorError),
}

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
        let (account, secp) = (self.account(network)?, Secp256k1::new());
        let key = Xpub::from_priv(&secp, &account.key);
        let public = |keychain| {
            let built = Bip86Public(key, account.master, keychain).build(network::kind(network));
            Ok::<_, DeriveError>(built?.0.to_string())
        };
        Ok(PublicKeys {
            external: public(KeychainKind::External)?,
            internal: public(KeychainKind::Internal)?,
        })
    }

    /// The private key of the same account.
    pub(crate) fn account(&self, network: Network) -> Result<AccountKey, DeriveError> {
        let secp = Secp256k1::new();
        let seed = Zeroizing::new(self.0.to_seed_normalized(""));
        let coin = if network == Network::Mainnet { 0 } else { 1 };
        let path = [86, coin, 0].into_iter().map(ChildNumber::from_hardened_idx);
        let path: DerivationPath = path.collect::<Result<Vec<_>, _>>()?.into();
        let mut master = Xpriv::new_master(network::kind(network), seed.as_slice())?;
        let derived = master.derive_priv(&secp, &path);
        let fingerprint = master.fingerprint(&secp);
        master.private_key.non_secure_erase();
        Ok(AccountKey { key: derived?, master: fingerprint, path })
    }
}

impl AccountKey {
    /// Whose keys it is, as hints of a PSBT name them.
    pub(crate) fn master(&self) -> Fingerprint {
        self.master
    }
}

impl GetKey for AccountKey {
    type Error = bip32::Error;

    fn get_key<C: Signing>(
        &self,
        request: KeyRequest,
        secp: &Secp256k1<C>,
    ) -> Result<Option<PrivateKey>, bip32::Error> {
        let KeyRequest::Bip32((master, path)) = request else { return Ok(None) };
        let below = path.as_ref().strip_prefix(self.path.as_ref());
        match below {
            Some(below @ [ChildNumber::Normal { index: 0 | 1 }, ChildNumber::Normal { .. }])
                if master == self.master =>
            {
                Ok(Some(self.key.derive_priv(secp, &below)?.to_priv()))
            }
            _ => Ok(None),
        }
    }
}

impl Drop for AccountKey {
    fn drop(&mut self) {
        self.key.private_key.non_secure_erase();
    }
}

impl fmt::Debug for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seed(…)")
    }
}

#[cfg(test)]
mod tests;
