//! Errors that are no outcome: what, where, what to do, and the exit code.

use std::io;
use std::path::Path;

use granted_core::decision::mint::Refusal;
use granted_core::decision::resolve;
use granted_core::store::{AppendError, NotWritten, ReadError};
use granted_core::timer::TooLong;
use granted_core::trust;
use granted_core::write::decide::NotNow;
use granted_core::write::direct::Problem;
use granted_core::write::dispatch::NotIssued;
use granted_store::open::in_words;
use serde::Serialize;

use crate::book::BookError;
use crate::config::ConfigError;
use crate::decision::mint::MintError;
use crate::decision::resolve::ResolveError;
use crate::decision::revoke::RevokeError;
use crate::decision::trust::TrustError;
use crate::home::HomeError;
use crate::ledger::checkpoint::CheckpointError;
use crate::ledger::proof::ProofError;
use crate::ledger::prove::ProveError;
use crate::ledger::witness::Doubt;
use crate::sign::SignError;
use crate::terminal::TerminalError;
use crate::timer::TimerError;
use crate::write::approve::WordError;
use crate::write::direct::GatherError;
use crate::write::dispatch::DispatchError;
use crate::write::loaded::StartError;
use crate::write::project::ProjectError;
use crate::write::sign::DirectError;

/// Declares the kinds of errors, with the word of each.
macro_rules! kinds {
    ($($(#[$doc:meta])* $variant:ident = $text:literal,)+) => {
        /// What sort of error it is: one word for programs.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
        pub(crate) enum Kind {
            $($(#[$doc])* #[serde(rename = $text)] $variant,)+
        }

        /// The word of every kind of error.
        pub const ERROR_KINDS: &[&str] = &[$($text),+];
    };
}

kinds! {
    /// The command line is wrong.
    Usage = "usage",
    /// What was asked for is not there, or is past it.
    Refused = "refused",
    /// A file or stream that the person named.
    Input = "input",
    /// The config cannot be used.
    Config = "config",
    /// There is no home.
    Home = "home",
    /// The ledger cannot be read.
    Ledger = "ledger",
    /// The ledger cannot be written.
    LedgerUnwritable = "ledger_unwritable",
    /// The ledger is shorter than it was, or another one.
    LedgerRolledBack = "ledger_rolled_back",
    /// The grants' documents cannot be read or written.
    Documents = "documents",
    /// The clock is behind the ledger.
    ClockBehind = "clock_behind",
    /// Told to stop before anything was done.
    Stopped = "stopped",
    /// A person is to be asked, and there is no terminal.
    NoTerminal = "no_terminal",
    /// The person said no.
    Declined = "declined",
    /// A key does not sign.
    Key = "key",
    /// The system does not do its part.
    System = "system",
}

/// An error, as it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    /// For programs.
    pub(crate) kind: Kind,
    /// One line for people.
    pub(crate) message: String,
    /// What to do about it.
    pub(crate) hint: Option<String>,
    /// The exit code.
    pub(crate) code: u8,
}

impl Failure {
    /// Of this kind, without advice: exit 1.
    pub(crate) fn new(kind: Kind, message: impl ToString) -> Failure {
        Failure { kind, message: message.to_string(), hint: None, code: 1 }
    }

    /// The command line itself is wrong: exit 2, and no row.
    pub(crate) fn usage(message: impl ToString) -> Failure {
        Failure { code: 2, ..Failure::new(Kind::Usage, message) }
    }

    /// What was asked for is not there, or is past it.
    pub(crate) fn refused(message: impl ToString) -> Failure {
        Failure::new(Kind::Refused, message)
    }

    /// A file or stream that the person named.
    pub(crate) fn input(message: impl ToString) -> Failure {
        Failure::new(Kind::Input, message)
    }

    /// A path that could not be used, and why.
    pub(crate) fn at(path: &Path, error: &io::Error) -> Failure {
        Failure::input(format!("`{}`: {}", path.display(), in_words(error)))
    }

    /// The system does not do its part.
    pub(crate) fn system(message: impl ToString) -> Failure {
        Failure::new(Kind::System, message)
    }

    /// With advice.
    pub(crate) fn hint(self, hint: impl Into<String>) -> Failure {
        Failure { hint: Some(hint.into()), ..self }
    }
}

impl From<HomeError> for Failure {
    fn from(error: HomeError) -> Failure {
        Failure::new(Kind::Home, error)
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Failure {
        Failure { hint: error.mend.clone(), ..Failure::new(Kind::Config, error) }
    }
}

impl From<ReadError> for Failure {
    fn from(error: ReadError) -> Failure {
        let failure = Failure::new(Kind::Ledger, &error);
        match error {
            ReadError::Unreadable(_) => failure,
            ReadError::Damaged { .. } => failure.hint("look closer: granted ledger verify"),
            ReadError::Newer { .. } => failure.hint("use that newer granted"),
        }
    }
}

impl From<AppendError> for Failure {
    fn from(error: AppendError) -> Failure {
        let kind = match &error {
            AppendError::NotWritten(NotWritten::RolledBack(_)) => Kind::LedgerRolledBack,
            _ => Kind::LedgerUnwritable,
        };
        let failure = Failure::new(kind, &error);
        match error {
            AppendError::NotWritten(NotWritten::Custody(breach)) => failure.hint(breach.mend()),
            _ => failure,
        }
    }
}

impl From<BookError> for Failure {
    fn from(error: BookError) -> Failure {
        match error {
            BookError::Read(error) => error.into(),
            BookError::Append(error) => error.into(),
            BookError::Doubt(doubt) => doubt.into(),
            BookError::Checkpoint(error) => error.into(),
            BookError::Documents(_) => Failure::new(Kind::Documents, error),
            BookError::NoOpening => Failure::new(Kind::Ledger, error),
            BookError::NoRandomness(_) => Failure::system(error),
        }
    }
}

impl From<Doubt> for Failure {
    fn from(doubt: Doubt) -> Failure {
        match doubt {
            Doubt::RolledBack(_) => Failure::new(Kind::LedgerRolledBack, doubt)
                .hint("put the ledger back; if it is the right one: granted ledger accept"),
            Doubt::Foreign { .. } => Failure::new(Kind::LedgerRolledBack, doubt)
                .hint("name another file in config.toml, or move that one away"),
            Doubt::Required(_) => Failure::new(Kind::LedgerUnwritable, doubt)
                .hint("a witness that is missing is begun by: granted ledger checkpoint"),
            Doubt::Config(error) => error.into(),
            Doubt::Unreadable(_) => Failure::new(Kind::Ledger, doubt),
        }
    }
}

impl From<CheckpointError> for Failure {
    fn from(error: CheckpointError) -> Failure {
        match error {
            CheckpointError::Read(error) => error.into(),
            CheckpointError::Empty(_) => Failure::refused(error),
            CheckpointError::RolledBack(_) => Failure::new(Kind::LedgerRolledBack, error)
                .hint("put the ledger back; if it is the right one: granted ledger accept"),
            CheckpointError::Custody(breach) => {
                let mend = breach.mend();
                Failure::new(Kind::LedgerUnwritable, CheckpointError::Custody(breach)).hint(mend)
            }
            CheckpointError::File(_) => Failure::input(error),
        }
    }
}

impl From<ProveError> for Failure {
    fn from(error: ProveError) -> Failure {
        match error {
            ProveError::Checkpoint(error) => error.into(),
            error => Failure::refused(error).hint("to make one: granted ledger checkpoint"),
        }
    }
}

impl From<ProofError> for Failure {
    fn from(error: ProofError) -> Failure {
        match error {
            ProofError::Checkpoint(error) => error.into(),
            ProofError::Invalid(_) => {
                Failure::new(Kind::Ledger, error).hint("look closer: granted ledger verify")
            }
            error => Failure::refused(error),
        }
    }
}

impl From<MintError> for Failure {
    fn from(error: MintError) -> Failure {
        match error {
            MintError::Refused(_, refusal) => refusal.into(),
            MintError::Document(why) => Failure::new(Kind::Documents, why),
            MintError::Book(error) => error.into(),
        }
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Failure {
        match refusal {
            Refusal::EmptyWindow { .. } | Refusal::WindowOver { .. } => Failure::usage(refusal),
            Refusal::HasGrant { .. } => Failure::refused(refusal)
                .hint("to mint another beside it: --again; to take it back: granted revoke"),
            Refusal::Signature(_) | Refusal::Minted(_) | Refusal::OtherBook(_) => {
                Failure::refused(refusal)
            }
            Refusal::Twice(_) => {
                Failure::usage(refusal).hint("to mint several for one object: --again")
            }
            Refusal::ClockBehind(_) => Failure::new(Kind::ClockBehind, refusal)
                .hint("if the ledger's time was wrong: granted ledger accept"),
        }
    }
}

impl From<RevokeError> for Failure {
    fn from(error: RevokeError) -> Failure {
        match error {
            RevokeError::Book(error) => error.into(),
            error => Failure::refused(error),
        }
    }
}

impl From<ResolveError> for Failure {
    fn from(error: ResolveError) -> Failure {
        match error {
            ResolveError::Book(error) => error.into(),
            ResolveError::Refused(resolve::Refusal::Unknown(_)) => Failure::refused(error)
                .hint("attempts: granted ledger --kind decision.outcome, in brackets"),
            error => Failure::refused(error),
        }
    }
}

impl From<TerminalError> for Failure {
    fn from(error: TerminalError) -> Failure {
        let kind = match error {
            TerminalError::None => Kind::NoTerminal,
            TerminalError::Stopped => Kind::Stopped,
            TerminalError::Short | TerminalError::Differ => Kind::Input,
            TerminalError::Io(_) => Kind::System,
        };
        Failure::new(kind, error)
    }
}

impl From<SignError> for Failure {
    fn from(error: SignError) -> Failure {
        match error {
            SignError::Terminal(error) => error.into(),
            SignError::Key(_) => Failure::new(Kind::Key, error),
        }
    }
}

impl From<TrustError> for Failure {
    fn from(error: TrustError) -> Failure {
        match error {
            TrustError::Book(error) => error.into(),
            TrustError::Refused(trust::Refusal::Signature(_)) => Failure::new(Kind::Key, error)
                .hint("what is trusted: granted trust; to sign with another key: --sign-with"),
            TrustError::Refused(trust::Refusal::NoKey) => {
                Failure::refused(error).hint("to make a key: granted key new NAME")
            }
            TrustError::Refused(_) => Failure::refused(error),
        }
    }
}

impl From<ProjectError> for Failure {
    fn from(error: ProjectError) -> Failure {
        match error {
            ProjectError::Brief { .. } => Failure::new(Kind::Config, error),
            error => Failure::input(error),
        }
    }
}

impl From<WordError> for Failure {
    fn from(error: WordError) -> Failure {
        match error {
            WordError::Book(error) => error.into(),
            WordError::Project(error) => error.into(),
            WordError::Not(NotNow::Clock(_)) => Failure::new(Kind::ClockBehind, error)
                .hint("if the ledger's time was wrong: granted ledger accept"),
            WordError::Not(NotNow::Digest(id, _)) => {
                Failure::refused(error).hint(format!("look again: granted writes show {id}"))
            }
            WordError::Not(NotNow::Denied(id, _)) => Failure::refused(error)
                .hint(format!("it waits as before; to end it: granted writes reject {id}")),
            error => Failure::refused(error),
        }
    }
}

impl From<DirectError> for Failure {
    fn from(error: DirectError) -> Failure {
        match error {
            DirectError::Project(error) => error.into(),
            DirectError::Gather(GatherError::Book(error)) => error.into(),
            DirectError::Gather(GatherError::Policy(_)) => Failure::system(error),
            DirectError::Refused(Problem::Clock(_)) => Failure::new(Kind::ClockBehind, error)
                .hint("if the ledger's time was wrong: granted ledger accept"),
            DirectError::Refused(Problem::Signature(..)) => {
                Failure::new(Kind::Key, error).hint("what is trusted: granted trust")
            }
            DirectError::Refused(Problem::Uncovered(_)) => Failure::refused(error).hint(
                "list a gate for the agent, or give one `paths` that take in the whole scope",
            ),
            DirectError::Refused(Problem::NotAsked(_)) => Failure::refused(error)
                .hint("in granted.toml: approval = \"direct\" and dispatch = \"required\""),
            DirectError::Refused(_) => Failure::refused(error),
            DirectError::File(_) => Failure::new(Kind::Documents, error)
                .hint("the grant counts once it is in that file: sign again"),
            DirectError::Nothing(_) => {
                Failure::refused(error).hint("what there is: granted writes grants")
            }
        }
    }
}

impl From<StartError> for Failure {
    fn from(error: StartError) -> Failure {
        match error {
            StartError::Project(error) => error.into(),
            StartError::Gather(error) => DirectError::from(error).into(),
            StartError::NoAgent(..) => Failure::refused(error),
        }
    }
}

impl From<DispatchError> for Failure {
    fn from(error: DispatchError) -> Failure {
        match error {
            DispatchError::Project(error) => error.into(),
            DispatchError::Book(error) => error.into(),
            DispatchError::Refused(NotIssued::Wide) => Failure::usage(error),
            DispatchError::Refused(NotIssued::Clock(_)) => Failure::new(Kind::ClockBehind, error)
                .hint("if the ledger's time was wrong: granted ledger accept"),
            DispatchError::Refused(NotIssued::NotInBrief(_)) => Failure::refused(error),
        }
    }
}

impl From<TooLong> for Failure {
    fn from(error: TooLong) -> Failure {
        Failure::usage(error)
    }
}

impl From<TimerError> for Failure {
    fn from(error: TimerError) -> Failure {
        match error {
            TimerError::Path { .. } | TimerError::File(_) => Failure::input(error),
            TimerError::Foreign(_) => {
                Failure::input(error).hint("move it away, then install again")
            }
            TimerError::NoManager(_) | TimerError::Refused(..) => Failure::system(error),
        }
    }
}
