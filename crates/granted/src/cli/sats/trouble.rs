//! What can go wrong with a wallet, as errors of the command line.

use granted_sats::chain::SyncError;
use granted_sats::config::{ChoiceError, ConfigError};
use granted_sats::prepare::PrepareError;
use granted_sats::record::RecordError;
use granted_sats::seed::{DeriveError, PhraseError, SealError};
use granted_sats::sign::SignError;
use granted_sats::wallet::WalletError;
use granted_sats::{FileError, SeedError};

use super::super::failure::{Failure, Kind};

impl From<FileError> for Failure {
    fn from(error: FileError) -> Failure {
        Failure { hint: error.mend.clone(), ..Failure::new(Kind::Wallet, error) }
    }
}

impl From<WalletError> for Failure {
    fn from(error: WalletError) -> Failure {
        match error {
            WalletError::None(network) => {
                Failure::refused(error).hint(format!("to make one: sats init --network {network}"))
            }
            WalletError::Exists(_) => Failure::refused(error),
            WalletError::File(error) => error.into(),
            WalletError::State { .. } => Failure::new(Kind::Wallet, error),
        }
    }
}

impl From<SeedError> for Failure {
    fn from(error: SeedError) -> Failure {
        match error {
            SeedError::None(_) => Failure::refused(error).hint("to make one: sats init"),
            SeedError::Exists(_) => Failure::refused(error),
            SeedError::Seal { error: SealError::Locked, .. } => Failure::new(Kind::Key, error),
            SeedError::Seal { .. } => Failure::new(Kind::Wallet, error),
            SeedError::File(error) => error.into(),
        }
    }
}

impl From<PhraseError> for Failure {
    fn from(error: PhraseError) -> Failure {
        Failure::input(error)
    }
}

impl From<DeriveError> for Failure {
    fn from(error: DeriveError) -> Failure {
        Failure::new(Kind::Key, error)
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Failure {
        match error {
            ConfigError::Text { .. } => Failure::new(Kind::Config, error),
            ConfigError::File(error) => Failure { kind: Kind::Config, ..error.into() },
        }
    }
}

impl From<RecordError> for Failure {
    fn from(error: RecordError) -> Failure {
        match error {
            RecordError::None(_) | RecordError::Several(_) => {
                Failure::refused(error).hint("which there are: sats status")
            }
            RecordError::Damaged { .. } => Failure::new(Kind::Wallet, error),
            RecordError::File(error) => error.into(),
        }
    }
}

impl From<SignError> for Failure {
    fn from(error: SignError) -> Failure {
        match error {
            SignError::Stopped(error) => error.into(),
            error => Failure::new(Kind::Key, error),
        }
    }
}

impl From<PrepareError> for Failure {
    fn from(error: PrepareError) -> Failure {
        match error {
            PrepareError::Address(_) => Failure::usage(error),
            PrepareError::Choice(ChoiceError::Several { .. }) => Failure::new(Kind::Config, error)
                .hint("to choose one: sats providers use NAME; for this once: --provider KIND=URL"),
            PrepareError::Choice(ChoiceError::None { .. }) => Failure::new(Kind::Config, error)
                .hint("to add one: sats providers add NAME KIND URL"),
            PrepareError::Sync(SyncError::Wallet(error)) | PrepareError::Wallet(error) => {
                error.into()
            }
            PrepareError::Sync(SyncError::Elsewhere { .. }) => {
                Failure::new(Kind::Provider, error).hint("what is configured: sats providers list")
            }
            PrepareError::Sync(SyncError::Behind { .. }) => Failure::new(Kind::Provider, error)
                .hint("if it is right, and another one was not: sats balance --rescan"),
            PrepareError::Sync(SyncError::Provider(ref provider)) => {
                let hint = to_mend(&provider.why);
                Failure::new(Kind::Provider, error).hint(hint)
            }
            PrepareError::Empty => Failure::refused(error).hint("to have it paid to: sats receive"),
            PrepareError::KeptBack => {
                Failure::refused(error).hint("to spend them all the same: --allow-dust")
            }
            PrepareError::Held { ref by, .. } => {
                let first = by.first().map(ToString::to_string).unwrap_or_default();
                let hint = format!(
                    "to hand it over again: sats tx broadcast {first}; to pay with its coins in its \
                     place: sats send --instead-of {first}"
                );
                Failure::refused(error).hint(hint)
            }
            PrepareError::Taken(_) => {
                Failure::refused(error).hint("nothing was signed: prepare the payment again")
            }
            PrepareError::NoPlace(txid) => {
                Failure::refused(error).hint(format!("how far it is: sats status {txid}"))
            }
            PrepareError::Record(_) => Failure::new(Kind::Wallet, error),
            error => Failure::refused(error),
        }
    }
}

/// What a person can do about a provider that does not do its part.
fn to_mend(why: &str) -> &'static str {
    let known = [
        (
            "certificate",
            "a server of your own: ask it without TLS on this machine, or through a tunnel",
        ),
        ("cookie", "does the node run? it makes that file when it starts"),
        (
            "does not let this user in",
            "name the user in the URL, as USER:PASSWORD@, or the node's file with --cookie",
        ),
        ("cannot be reached", "does it run? what is configured: sats providers list"),
    ];
    let found = known.iter().find(|(sign, _)| why.contains(sign));
    found.map_or("what is configured: sats providers list", |(_, hint)| hint)
}
