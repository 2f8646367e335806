//! `sats init`

use granted_core::spend::Network;
use granted_core::time::Clock as _;
use granted_sats::Seed;
use granted_sats::config::{Config, origin};
use granted_sats::seed::Length;
use granted_sats::wallet::WalletError;
use zeroize::Zeroizing;

use super::super::args::person;
use super::super::failure::{Failure, Kind};
use super::super::out::Out;
use super::place::{Place, seconds, unseen};
use crate::clock::SystemClock;
use crate::terminal::Terminal;

/// Make a wallet, restore one from its words, or add a network to one.
///
/// A new wallet's words are shown once, at the terminal, and never again. Then you type a password of at
/// least 8 characters twice. If it is shorter, or the two differ, you are asked again, three times in all;
/// after that no wallet is made, and the words that were shown are of no use. If there is a wallet, it is
/// given the network that --network names.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Args {
    /// How many words a new wallet has: 12 or 24.
    #[arg(long, value_name = "12|24", conflicts_with = "restore", value_parser = ["12", "24"])]
    words: Option<String>,
    /// Restore a wallet from its words, which are asked for at the terminal.
    #[arg(long)]
    restore: bool,
}

const AFTER_HELP: &str = "\
Examples:
  sats init
  sats init --restore
  sats init --network mainnet";

/// What is typed before keys of mainnet are kept here.
const HOT: &str = "hot wallet";

pub(super) fn run(args: &Args, place: Place, out: &Out) -> Result<u8, Failure> {
    person("sats init")?;
    unseen();
    match place.home.has_seed()? {
        true => add(args, &place, out),
        false => begin(args, place, out),
    }
}

/// Gives a wallet that is there another network.
fn add(args: &Args, place: &Place, out: &Out) -> Result<u8, Failure> {
    if args.restore || args.words.is_some() {
        let path = place.home.path().display();
        return Err(Failure::refused(format!("there is a wallet in `{path}` already")));
    }
    let wallet = place.home.wallet(place.network);
    if wallet.exists()? {
        return Err(WalletError::Exists(place.network).into());
    }
    let terminal = Terminal::open()?;
    know(place.network, &terminal)?;
    let seed = place.unlock(&terminal)?;
    // The same words may have been used elsewhere before.
    wallet.create(&seed.public_keys(place.network)?, None)?;
    out.line(format_args!("the wallet is on {} too from now on", place.network));
    say_who(place, out);
    Ok(0)
}

/// Makes or restores the wallet.
fn begin(args: &Args, place: Place, out: &Out) -> Result<u8, Failure> {
    let terminal = Terminal::open()?;
    know(place.network, &terminal)?;
    let restore = args.restore
        || (args.words.is_none() && terminal.confirm("restore a wallet from its words?")?);
    let (seed, born) = match restore {
        true => (ask(&terminal)?, None),
        false => {
            let length = match args.words.as_deref() {
                Some("24") => Length::TwentyFour,
                _ => Length::Twelve,
            };
            let seed = Seed::generate(length).map_err(Failure::system)?;
            show(&seed, &terminal)?;
            (seed, Some(seconds(SystemClock.now())))
        }
    };
    let password = terminal.new_password("the wallet").map_err(|e| {
        Failure::from(e).hint("no wallet was made, and the words above are of no use: begin again")
    })?;
    place.home.write_seed(&seed, &password)?;
    let wallet = place.home.wallet(place.network);
    wallet.create(&seed.public_keys(place.network)?, born)?;
    drop(seed);
    let config = Config { network: place.network, ..place.config.clone() };
    config.save(&place.home)?;
    out.line(format_args!(
        "the wallet is in `{}`, on {}",
        place.home.path().display(),
        place.network
    ));
    say_who(&place, out);
    if restore && terminal.confirm("look for its coins now?")? {
        place.look(&wallet, false, out)?;
    }
    out.remark("an address to be paid at: sats receive");
    Ok(0)
}

/// Says who sees the wallet's addresses, where nobody was chosen for that.
fn say_who(place: &Place, out: &Out) {
    if let Some(entry) = place.built_in() {
        let who = origin(&entry.url);
        out.remark(format_args!(
            "{who} tells it the chain, and sees its addresses; your own: sats providers add"
        ));
    }
}

/// On mainnet the person is to know what this is.
fn know(network: Network, terminal: &Terminal) -> Result<(), Failure> {
    if network != Network::Mainnet {
        return Ok(());
    }
    terminal
        .line("the keys are on this machine while it signs: keep no more here than you can lose")?;
    let typed = terminal.typed(&format!("to go on, type `{HOT}`: "))?;
    match typed.as_slice() == HOT.as_bytes() {
        true => Ok(()),
        false => Err(Failure::new(Kind::Declined, "no wallet was made")),
    }
}

fn ask(terminal: &Terminal) -> Result<Seed, Failure> {
    let typed = terminal.password("its words, in their order: ")?;
    let text = str::from_utf8(&typed).map_err(|_| Failure::input("the words are no text"))?;
    Ok(Seed::parse(text)?)
}

/// Shows the words, six a row.
fn show(seed: &Seed, terminal: &Terminal) -> Result<(), Failure> {
    terminal.line("these words are the wallet. Write them down: they are not shown again")?;
    let words: Vec<&str> = seed.words().collect();
    for (row, words) in words.chunks(6).enumerate() {
        let mut line = Zeroizing::new(String::with_capacity(128));
        for (column, word) in words.iter().enumerate() {
            line.push_str(&format!("{:>4} ", row * 6 + column + 1));
            line.push_str(word);
        }
        terminal.line(&line)?;
    }
    Ok(())
}
