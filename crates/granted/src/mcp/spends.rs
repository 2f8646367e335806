//! The agent's door to spends: five tools, in a process of their own. It holds a token and no key; it
//! never prepares, signs or broadcasts.

mod tools;

#[cfg(test)]
mod tests;

use std::path::PathBuf;

use granted_core::spend::chain::Addresses;
use granted_core::spend::file::FileError;
use granted_core::spend::reply::Reply;
use granted_core::spend::{Address, Network, Sats};
use rmcp::RoleServer;
use rmcp::model::{CallToolResponse, CallToolResult, ErrorData, JsonObject, Tool};
use rmcp::service::RequestContext;
use serde::Serialize;
use tokio::sync::{Semaphore, watch};

use super::arguments::{Arguments, invalid};
use super::pace::Pace;
use super::server::{Server, Tools, failed, internal, no_tool};
use super::wire::End;
use crate::book::Book;
use crate::spend::Spends;
use crate::spend::check::check;
use crate::spend::file::{Asked, Session, file};
use crate::spend::grant::{grant, view};
use tools::{BALANCE, CHECK, GRANT, RECEIVE, SEND};

/// How many calls are worked on at once. The others wait.
const MAX_CALLS: usize = 8;

/// What the agent may see of the wallet.
pub(crate) trait Purse: Addresses + Send + Sync + 'static {
    /// What the wallet has, after a look at the chain; what it last saw where the chain cannot be reached.
    /// An error where it is not clear who is to be asked.
    fn balance(&self) -> Result<Balance, String>;

    /// The next address that is fresh, and its place.
    fn receive(&self) -> Result<(Address, u32), String>;

    /// Whether the network relays so little to an address; why not. Of what is no address it says nothing.
    fn relays(&self, address: &str, amount: Sats) -> Result<(), String>;
}

/// What a wallet has.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Balance {
    /// Confirmed, and of its own.
    pub(crate) balance_sat: Sats,
    /// The rest.
    pub(crate) pending_sat: Sats,
    /// Whether the chain was reached.
    pub(crate) synced: bool,
}

/// The agent's door to the spends of one session.
pub(crate) struct Spender {
    book: Book,
    network: Network,
    sats: PathBuf,
    session: Session,
    purse: Box<dyn Purse>,
    tools: Vec<Tool>,
    pace: Pace,
    calls: Semaphore,
}

#[derive(Serialize)]
struct BalanceJson {
    #[serde(flatten)]
    balance: Balance,
    network: Network,
}

#[derive(Serialize)]
struct ReceiveJson {
    address: Address,
    index: u32,
    network: Network,
}

impl Server<Spender> {
    /// A server for this session, whose documents lie below `sats`.
    pub(crate) fn spending(
        book: Book,
        network: Network,
        sats: PathBuf,
        session: Session,
        purse: Box<dyn Purse>,
    ) -> Server<Spender> {
        let spender = Spender {
            book,
            network,
            sats,
            session,
            purse,
            tools: tools::all(),
            pace: Pace::new(),
            calls: Semaphore::new(MAX_CALLS),
        };
        Server::of(spender, watch::Sender::new(End::Open))
    }

    /// Works away from the wire.
    async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Spender, &Spends<'_>) -> T + Send + 'static,
    ) -> Result<T, ErrorData> {
        let server = self.clone();
        // It is never closed.
        let _turn = self.tools().calls.acquire().await.map_err(internal)?;
        let working = tokio::task::spawn_blocking(move || {
            // Opened anew for each call, so that a revocation is seen at once.
            let shared = server.tools();
            let spends = Spends::new(&shared.book, shared.network, &shared.sats);
            let done = work(shared, &spends);
            shared.book.news.tell_aside();
            done
        });
        working.await.map_err(internal)
    }

    async fn get_balance(&self, args: Arguments) -> Result<CallToolResponse, ErrorData> {
        args.end()?;
        let balance = |shared: &Spender, spends: &Spends<'_>| {
            grant(spends, &shared.session)?;
            shared.purse.balance().map_err(Unanswered::Purse)
        };
        let network = self.tools().network;
        let found = self.work(balance).await?;
        answer(found.map(|balance| BalanceJson { balance, network }))
    }

    async fn get_receive_address(&self, args: Arguments) -> Result<CallToolResponse, ErrorData> {
        args.end()?;
        let reveal = |shared: &Spender, spends: &Spends<'_>| {
            grant(spends, &shared.session)?;
            shared.purse.receive().map_err(Unanswered::Purse)
        };
        let network = self.tools().network;
        let found = self.work(reveal).await?;
        answer(found.map(|(address, index)| ReceiveJson { address, index, network }))
    }

    async fn get_grant(&self, args: Arguments) -> Result<CallToolResponse, ErrorData> {
        args.end()?;
        let look = |shared: &Spender, spends: &Spends<'_>| view(spends, &shared.session);
        answer(self.work(look).await?.map_err(Unanswered::from))
    }

    async fn request_send(&self, mut args: Arguments) -> Result<CallToolResponse, ErrorData> {
        let address = args.string("address")?;
        let amount = args.sats("amount_sat")?;
        let key = args.string("idempotency_key")?;
        args.end()?;
        // Nobody fills the disk with requests.
        self.tools().pace.turn().await;
        let ask = move |shared: &Spender, spends: &Spends<'_>| {
            let asked = Asked { address: &address, amount, key: &key };
            // What could never be paid is no state of a request. Who may not ask hears that first.
            if grant(spends, &shared.session).is_ok() {
                shared.purse.relays(&address, amount)?;
            }
            Ok(match file(spends, &shared.session, &asked, &*shared.purse) {
                Ok(request) => Reply::of(&request),
                Err(e) => Reply::error(&e),
            })
        };
        answer(Ok(self.work(ask).await?.map_err(invalid)?))
    }

    async fn check_request(&self, mut args: Arguments) -> Result<CallToolResponse, ErrorData> {
        let id = args.string("request_id")?;
        args.end()?;
        let look = move |shared: &Spender, spends: &Spends<'_>| check(spends, &shared.session, &id);
        answer(Ok(self.work(look).await?))
    }
}

impl Tools for Spender {
    const LONG: &'static [&'static str] = &[BALANCE];
    const MAX_FRAME: usize = 1024 * 1024;

    fn about(&self) -> (&'static str, &'static str) {
        ("sats", "Ask for payments inside a budget; a human approves each.")
    }

    fn instructions(&self) -> String {
        tools::instructions(&self.session.agent, self.network)
    }

    fn book(&self) -> &Book {
        &self.book
    }

    fn list(&self) -> Vec<Tool> {
        self.tools.clone()
    }

    fn tick(&self) -> Result<(), String> {
        Ok(())
    }

    async fn call(
        server: &Server<Spender>,
        tool: &str,
        args: JsonObject,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let args = |takes| Arguments::new(args, takes);
        match tool {
            BALANCE => server.get_balance(args(&[])).await,
            RECEIVE => server.get_receive_address(args(&[])).await,
            GRANT => server.get_grant(args(&[])).await,
            SEND => server.request_send(args(tools::SEND_TAKES)).await,
            CHECK => server.check_request(args(tools::CHECK_TAKES)).await,
            other => Err(no_tool(other, &[BALANCE, RECEIVE, GRANT, SEND, CHECK])),
        }
    }
}

/// Why a tool that reads has no answer.
enum Unanswered {
    /// The grant, with a code, as `request_send` has it.
    Grant(FileError),
    /// The wallet.
    Purse(String),
}

impl From<FileError> for Unanswered {
    fn from(error: FileError) -> Unanswered {
        Unanswered::Grant(error)
    }
}

/// What a tool found, or the result that says why it did not.
fn answer(found: Result<impl Serialize, Unanswered>) -> Result<CallToolResponse, ErrorData> {
    match found {
        Ok(found) => {
            let found = serde_json::to_value(found).map_err(internal)?;
            Ok(CallToolResult::structured(found).into())
        }
        Err(Unanswered::Grant(error)) => {
            let error = serde_json::to_value(Reply::error(&error)).map_err(internal)?;
            Ok(CallToolResult::structured_error(error).into())
        }
        Err(Unanswered::Purse(why)) => Ok(failed(&why)),
    }
}
