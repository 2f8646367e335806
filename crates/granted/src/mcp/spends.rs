//! The agent's door to spends: five tools, in a process of their own. It holds a token and no key; it
//! never prepares, signs or broadcasts.

mod tools;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

use granted_core::spend::chain::Addresses;
use granted_core::spend::file::FileError;
use granted_core::spend::reply::Reply;
use granted_core::spend::{Address, Network, Sats};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CustomRequest, CustomResult,
    ErrorData, Implementation, InitializeRequestParams, InitializeResult, ListToolsResult,
    PaginatedRequestParams, ProtocolVersion, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use serde::Serialize;
use tokio::sync::{Semaphore, watch};

use super::Serves;
use super::answers::{failed, internal, no_tool};
use super::arguments::Arguments;
use super::handshake::{self, PROTOCOLS};
use super::pace::Pace;
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

/// The server. Its clones are the same one.
#[derive(Clone)]
pub(crate) struct Server(Arc<Shared>);

struct Shared {
    book: Book,
    network: Network,
    sats: PathBuf,
    session: Session,
    purse: Box<dyn Purse>,
    tools: Vec<Tool>,
    pace: Pace,
    calls: Semaphore,
    end: watch::Sender<End>,
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

impl Server {
    /// A server for this session, whose documents lie below `sats`.
    pub(crate) fn new(
        book: Book,
        network: Network,
        sats: PathBuf,
        session: Session,
        purse: Box<dyn Purse>,
    ) -> Server {
        Server(Arc::new(Shared {
            book,
            network,
            sats,
            session,
            purse,
            tools: tools::all(),
            pace: Pace::new(),
            calls: Semaphore::new(MAX_CALLS),
            end: watch::Sender::new(End::Open),
        }))
    }

    /// Works away from the wire.
    async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Shared, &Spends<'_>) -> T + Send + 'static,
    ) -> Result<T, ErrorData> {
        let shared = self.0.clone();
        // It is never closed.
        let _turn = self.0.calls.acquire().await.map_err(internal)?;
        let working = tokio::task::spawn_blocking(move || {
            // Opened anew for each call, so that a revocation is seen at once.
            let spends = Spends::new(&shared.book, shared.network, &shared.sats);
            let done = work(&shared, &spends);
            shared.book.news.tell_aside();
            done
        });
        working.await.map_err(internal)
    }

    async fn get_balance(&self, args: Arguments) -> Result<CallToolResponse, ErrorData> {
        args.end()?;
        let balance = |shared: &Shared, spends: &Spends<'_>| {
            grant(spends, &shared.session)?;
            shared.purse.balance().map_err(Unanswered::Purse)
        };
        let network = self.0.network;
        let found = self.work(balance).await?;
        answer(found.map(|balance| BalanceJson { balance, network }))
    }

    async fn get_receive_address(&self, args: Arguments) -> Result<CallToolResponse, ErrorData> {
        args.end()?;
        let reveal = |shared: &Shared, spends: &Spends<'_>| {
            grant(spends, &shared.session)?;
            shared.purse.receive().map_err(Unanswered::Purse)
        };
        let network = self.0.network;
        let found = self.work(reveal).await?;
        answer(found.map(|(address, index)| ReceiveJson { address, index, network }))
    }

    async fn get_grant(&self, args: Arguments) -> Result<CallToolResponse, ErrorData> {
        args.end()?;
        let look = |shared: &Shared, spends: &Spends<'_>| view(spends, &shared.session);
        answer(self.work(look).await?.map_err(Unanswered::from))
    }

    async fn request_send(&self, mut args: Arguments) -> Result<CallToolResponse, ErrorData> {
        let address = args.text("address")?;
        let amount = args.sats("amount_sat")?;
        let key = args.text("idempotency_key")?;
        args.end()?;
        // Nobody fills the disk with requests.
        self.0.pace.turn().await;
        let ask = move |shared: &Shared, spends: &Spends<'_>| {
            let asked = Asked { address: &address, amount, key: &key };
            match file(spends, &shared.session, &asked, &*shared.purse) {
                Ok(request) => Reply::of(&request),
                Err(e) => Reply::error(&e),
            }
        };
        answer(Ok(self.work(ask).await?))
    }

    async fn check_request(&self, mut args: Arguments) -> Result<CallToolResponse, ErrorData> {
        let id = args.text("request_id")?;
        args.end()?;
        let look = move |shared: &Shared, spends: &Spends<'_>| check(spends, &shared.session, &id);
        answer(Ok(self.work(look).await?))
    }
}

impl Serves for Server {
    const LONG: &'static str = BALANCE;

    fn end(&self) -> watch::Sender<End> {
        self.0.end.clone()
    }

    fn book(&self) -> &Book {
        &self.0.book
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let implementation = Implementation::new("sats", env!("CARGO_PKG_VERSION"))
            .with_title("sats")
            .with_description("Ask for payments inside a budget; a person approves each.");
        let Shared { session, network, .. } = &*self.0;
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(implementation)
            .with_instructions(tools::instructions(&session.agent, *network))
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(PROTOCOLS)
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        handshake::initialize(self, request, &context)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.0.tools.clone()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.0.tools.iter().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let args = |takes| Arguments::new(request.arguments.unwrap_or_default(), takes);
        match &*request.name {
            BALANCE => self.get_balance(args(&[])).await,
            RECEIVE => self.get_receive_address(args(&[])).await,
            GRANT => self.get_grant(args(&[])).await,
            SEND => self.request_send(args(tools::SEND_TAKES)).await,
            CHECK => self.check_request(args(tools::CHECK_TAKES)).await,
            other => {
                let tools = format!("`{BALANCE}`, `{RECEIVE}`, `{GRANT}`, `{SEND}` and `{CHECK}`");
                Err(no_tool(other, &tools))
            }
        }
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        handshake::custom(request, &context)
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
