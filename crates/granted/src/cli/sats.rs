//! `granted sats`, which is also the program `sats`

mod agent;
mod balance;
mod history;
mod init;
mod place;
mod providers;
mod psbt;
mod receive;
mod review;
mod send;
mod status;
mod trouble;
mod tx;

use granted_core::spend::Network;
use granted_sats::config::{Entry, Kind};

use super::failure::Failure;
use super::out::Out;
use place::Place;

/// A bitcoin wallet, whose seed your password opens for each signature.
///
/// `sats` alone is the same program. What lies on disk is the seed, sealed with your password, and what
/// the wallet saw on the chain. Passwords and words are asked for at the terminal and are taken from
/// nowhere else.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP, subcommand_value_name = "VERB", subcommand_help_heading = "Verbs")]
pub(crate) struct Args {
    #[command(flatten)]
    which: Which,
    #[command(subcommand)]
    command: Command,
}

/// Which wallet, and who tells it the chain.
#[derive(clap::Args)]
pub(crate) struct Which {
    /// mainnet, signet, testnet4 or regtest. Default: what the config says, else signet.
    #[arg(long, value_name = "NET", global = true, display_order = 800)]
    network: Option<Network>,
    /// esplora=URL, electrum=URL or core=URL, in the place of every provider of the config.
    #[arg(long, value_name = "KIND=URL", value_parser = provider, global = true, display_order = 801)]
    provider: Vec<(Kind, String)>,
}

const AFTER_HELP: &str = "\
Examples:
  sats init
  sats receive
  sats balance
  sats send ADDRESS 50k
  sats history";

#[derive(clap::Subcommand)]
enum Command {
    Init(init::Args),
    Balance(balance::Args),
    Receive(receive::Args),
    Send(send::Args),
    Status(status::Args),
    History(history::Args),
    Psbt(psbt::Args),
    Tx(tx::Args),
    Providers(providers::Args),
    Agent(agent::Args),
}

impl Args {
    /// Whether it does more than to print something.
    pub(super) fn acts(&self) -> bool {
        match &self.command {
            Command::Balance(_) | Command::Status(_) | Command::History(_) => false,
            Command::Psbt(args) => args.acts(),
            Command::Providers(args) => args.acts(),
            Command::Agent(args) => args.acts(),
            _ => true,
        }
    }
}

pub(crate) fn run(args: Args, out: &Out) -> Result<u8, Failure> {
    let place = Place::open(&args.which)?;
    match args.command {
        Command::Init(args) => init::run(&args, place, out),
        Command::Balance(args) => balance::run(&args, &place, out),
        Command::Receive(args) => receive::run(&args, &place, out),
        Command::Send(args) => send::run(&args, &place, out),
        Command::Status(args) => status::run(&args, &place, out),
        Command::History(args) => history::run(&args, &place, out),
        Command::Psbt(args) => psbt::run(args, &place, out),
        Command::Tx(args) => tx::run(args, &place, out),
        Command::Providers(args) => providers::run(args, place, out),
        Command::Agent(args) => agent::run(args, place, out),
    }
}

/// Reads KIND=URL.
fn provider(text: &str) -> Result<(Kind, String), String> {
    let (kind, url) = text.split_once('=').ok_or("a provider is KIND=URL")?;
    let kind: Kind = kind.parse()?;
    Entry::new(kind, Network::default(), url)?;
    Ok((kind, url.to_owned()))
}
