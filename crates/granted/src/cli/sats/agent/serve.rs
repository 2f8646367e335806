//! `sats agent serve`

use granted_core::ledger::Door;
use granted_core::spend::chain::Addresses;
use granted_core::spend::file::FileError;
use granted_core::spend::{Address, AgentName, Network, Sats};
use granted_core::text::Shown;
use granted_core::time::Relative;
use granted_sats::bitcoin::Amount;
use granted_sats::network;
use granted_sats::prepare::PrepareError;
use granted_sats::wallet::Wallet;

use super::super::super::failure::Failure;
use super::super::super::out::Out;
use super::super::place::Place;
use super::super::review::sats;
use super::{Spelling, spends};
use crate::book::Book;
use crate::home::{self, Home};
use crate::mcp;
use crate::mcp::Server;
use crate::mcp::spends::{Balance, Purse};
use crate::spend::session::{OpenError, open};

/// The token's place in the environment.
const TOKEN: &str = "SATS_AGENT_TOKEN";

/// Serve an agent over the Model Context Protocol, on stdin and stdout.
///
/// Five tools: get_balance, get_receive_address, get_grant, request_send and check_request. It holds the
/// token of SATS_AGENT_TOKEN and no key: it files requests, and you approve them.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The agent.
    #[arg(value_name = "NAME")]
    agent: AgentName,
}

const AFTER_HELP: &str = "\
Example:
  claude mcp add sats --env SATS_AGENT_TOKEN=TOKEN -- sats agent serve claude";

/// The wallet, as far as the agent sees it.
struct Watched {
    place: Place,
    wallet: Wallet,
}

impl Addresses for Watched {
    fn canonical(&self, text: &str, network: Network) -> Result<Address, String> {
        Spelling.canonical(text, network)
    }
}

impl Purse for Watched {
    fn balance(&self) -> Result<Balance, String> {
        // stdout is the wire, and nobody watches stderr.
        let synced = match self.place.sync(&self.wallet, &Out::new(true)) {
            Ok(()) => true,
            Err(error @ PrepareError::Choice(_)) => return Err(error.to_string()),
            Err(error) => {
                remark(&error.to_string());
                false
            }
        };
        let balance = self.wallet.balance().map_err(|e| e.to_string())?;
        let (balance_sat, pending_sat) = (sats(balance.spendable), sats(balance.pending));
        Ok(Balance { balance_sat, pending_sat, synced })
    }

    fn receive(&self) -> Result<(Address, u32), String> {
        let revealed = self.wallet.reveal().map_err(|e| e.to_string())?;
        Ok((revealed.address, revealed.index))
    }

    fn relays(&self, address: &str, amount: Sats) -> Result<(), String> {
        let Ok(address) = network::address(self.place.network, address) else { return Ok(()) };
        let checked = network::check_amount(&address, Amount::from_sat(amount.to_u64()));
        checked.map_err(|least| {
            format!("`amount_sat`: the network relays at least {} sat to it", sats(least))
        })
    }
}

pub(crate) fn run(args: &Args, place: Place, out: &Out) -> Result<u8, Failure> {
    let book = Book::open(Home::from_env()?, Door::Mcp);
    book.news.remark_by(remark);
    let token = home::var(TOKEN);
    let token = token.as_ref().map(|token| token.to_string_lossy());
    let (session, grant) = open(&spends(&place, &book), &args.agent, token.as_deref())?;
    let wallet = place.wallet()?;
    out.remark(format_args!(
        "sats agent serve: {} on {}; {} sat left; ends {}",
        args.agent,
        place.network,
        grant.remaining(),
        Relative { stamp: grant.grant.expires_at, now: book.now() }
    ));
    let (network, sats) = (place.network, place.home.path().to_owned());
    let server =
        Server::spending(book, network, sats, session, Box::new(Watched { place, wallet }));
    mcp::serve(server, remark).map_err(Failure::system)?;
    Ok(0)
}

/// One line to stderr: stdout is the wire.
fn remark(text: &str) {
    Out::new(true).remark(format_args!("sats agent serve: {}", Shown(text)));
}

impl From<OpenError> for Failure {
    fn from(error: OpenError) -> Failure {
        match error {
            OpenError::NoToken(_) => Failure::refused(&error)
                .hint("it was shown when the grant was issued; issue it anew if it is lost"),
            OpenError::Expired(ref agent) | OpenError::None(ref agent, _) => {
                let hint = format!("to issue one: sats agent grant {agent} --budget <sats>");
                Failure::refused(&error).hint(hint)
            }
            OpenError::Other(FileError::Unauthorized(ref agent)) => {
                let hint = format!(
                    "it is that of the grant as it was last issued; to issue it anew: sats agent grant \
                     {agent} --budget <sats>"
                );
                Failure::refused(&error).hint(hint)
            }
            OpenError::Other(_) => Failure::refused(error),
            OpenError::Read(error) => error.into(),
        }
    }
}
