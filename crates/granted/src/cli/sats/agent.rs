//! `sats agent`

mod allow;
mod approve;
mod disallow;
mod dismiss;
mod grant;
mod list;
mod log;
mod mode;
mod pick;
mod record;
mod requests;
mod revoke;
mod serve;

use granted_core::spend::chain::Addresses;
use granted_core::spend::{Address, Network};
use granted_core::spend::{approve as approving, change};
use granted_sats::network;

use super::super::failure::{Failure, Kind};
use super::super::out::Out;
use super::place::Place;
use crate::book::Book;
use crate::spend::{SpendError, Spends, network_of};
use crate::terminal::Terminal;

/// Let an agent ask for payments inside a budget, and approve each of them.
///
/// An agent files requests; you approve them with your password; sats executes them. What an agent holds is
/// a token, which asks and reads, and never spends.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP, subcommand_value_name = "VERB", subcommand_help_heading = "Verbs")]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str = "\
Examples:
  sats agent grant claude --budget 50k --for 24h --max-tx 10k --max-fee 1000
  sats agent requests
  sats agent approve r-8c1f
  sats agent revoke claude";

#[derive(clap::Subcommand)]
enum Command {
    Grant(grant::Args),
    Mode(mode::Args),
    Allow(allow::Args),
    Disallow(disallow::Args),
    List(list::Args),
    Revoke(revoke::Args),
    Serve(serve::Args),
    Requests(requests::Args),
    Approve(approve::Args),
    Dismiss(dismiss::Args),
    Log(log::Args),
}

impl Args {
    pub(super) fn acts(&self) -> bool {
        !matches!(self.command, Command::List(_) | Command::Requests(_) | Command::Log(_))
    }
}

pub(super) fn run(args: Args, place: Place, out: &Out) -> Result<u8, Failure> {
    match args.command {
        Command::Grant(args) => grant::run(args, &place, out),
        Command::Mode(args) => mode::run(&args, &place, out),
        Command::Allow(args) => allow::run(&args, &place, out),
        Command::Disallow(args) => disallow::run(&args, &place, out),
        Command::List(args) => list::run(&args, &place, out),
        Command::Revoke(args) => revoke::run(&args, &place, out),
        Command::Serve(args) => serve::run(&args, place, out),
        Command::Requests(args) => requests::run(&args, &place, out),
        Command::Approve(args) => approve::run(&args, &place, out),
        Command::Dismiss(args) => dismiss::run(&args, &place, out),
        Command::Log(args) => log::run(&args, &place, out),
    }
}

/// The spends of the wallet's network in this book.
pub(super) fn spends<'b>(place: &Place, book: &'b Book) -> Spends<'b> {
    Spends::new(book, place.network, place.home.path())
}

/// The place of the network on which the request is that an id, or the beginning of one, names.
fn place_of(place: &Place, book: &Book, id: &str) -> Place {
    place.on(network_of(book, place.home.path(), place.network, id))
}

/// Reads addresses as the wallet does.
struct Spelling;

impl Addresses for Spelling {
    fn canonical(&self, text: &str, network: Network) -> Result<Address, String> {
        let read = network::address(network, text).map_err(|e| e.to_string())?;
        Address::new(read.to_string()).map_err(|e| e.to_string())
    }
}

/// An address that the person typed, in the one spelling.
fn address(place: &Place, text: &str) -> Result<Address, Failure> {
    Spelling.canonical(text, place.network).map_err(Failure::usage)
}

/// The person's failures to answer, kept whole behind a pipeline that knows only their words.
#[derive(Default)]
struct Asked(Option<Failure>);

impl Asked {
    /// Keeps what went wrong.
    fn hold<T>(&mut self, answer: Result<T, Failure>) -> Result<T, String> {
        answer.map_err(|failure| {
            let message = failure.message.clone();
            self.0 = Some(failure);
            message
        })
    }

    /// The failure behind an error of a pipeline.
    fn failure(self, error: SpendError) -> Failure {
        match (self.0, error) {
            (Some(failure), SpendError::Person(_)) => failure,
            (_, error) => error.into(),
        }
    }
}

/// Takes the wallet's password, as the authorization of what widens, and keeps nothing of it.
fn authorize(place: &Place) -> Result<(), Failure> {
    place.unlock(&Terminal::open()?).map(drop)
}

impl From<SpendError> for Failure {
    fn from(error: SpendError) -> Failure {
        match error {
            SpendError::Book(error) => error.into(),
            SpendError::Document(_) => Failure::new(Kind::Documents, error),
            SpendError::Wallet(_) => Failure::new(Kind::Wallet, error),
            SpendError::Declined => Failure::new(Kind::Declined, error),
            SpendError::Person(_) => Failure::system(error),
            SpendError::Change(change::Refusal::NoBudget | change::Refusal::NoTime) => {
                Failure::usage(error)
            }
            SpendError::Change(change::Refusal::ClockBehind(_))
            | SpendError::Approve(approving::Refusal::ClockBehind(_)) => {
                Failure::new(Kind::ClockBehind, error)
                    .hint("if the ledger's time was wrong: granted ledger accept")
            }
            SpendError::Change(change::Refusal::NoGrant(ref agent, _)) => {
                let hint = format!(
                    "which there are: sats agent list; to issue one: sats agent grant {agent} \
                     --budget SATS"
                );
                Failure::refused(error).hint(hint)
            }
            SpendError::Change(change::Refusal::Unrestricted(ref agent)) => {
                let hint = format!("to begin a list: sats agent grant {agent} --to ADDRESS");
                Failure::refused(error).hint(hint)
            }
            SpendError::Unknown(_) | SpendError::Ambiguous(_) => {
                Failure::refused(error).hint("which there are: sats agent requests --all")
            }
            SpendError::Approve(approving::Refusal::Paused(..)) => Failure::refused(error)
                .hint("put the document back as it was, or issue the grant anew"),
            error => Failure::refused(error),
        }
    }
}
