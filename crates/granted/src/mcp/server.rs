//! The server: three tools over the pipelines, and nothing that widens authority.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use granted_core::decision::{Object, Report};
use granted_core::text::Name;
use granted_exec::Stop;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CustomRequest, CustomResult,
    ErrorData, Implementation, InitializeRequestParams, InitializeResult, ListToolsResult,
    PaginatedRequestParams, ProgressNotificationParam, ProtocolVersion, ServerCapabilities,
    ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use serde_json::Value;
use tokio::sync::{Semaphore, watch};
use tokio::time::{Instant, interval_at};
use tokio_util::sync::CancellationToken;

use super::Serves;
use super::answers::{answer, failed, internal, no_tool};
use super::arguments::Arguments;
use super::executors::Executors;
use super::handshake::{self, PROTOCOLS};
use super::pace::Pace;
use super::schema::{DEFAULT_ROWS, DISCHARGE, MAX_ROWS, STATUS, TAIL};
use super::tools;
use super::wire::End;
use crate::book::Book;
use crate::decision::asker::{Asker, Step};
use crate::decision::discharge::attempt;
use crate::decision::status::{LAST_ROWS, of_object};
use crate::decision::tick::tick;
use crate::ledger::tail::{Filter, tail};

/// The kinds of rows that the tools show, by their beginnings.
const KINDS: &[&str] = &["decision.", "ledger."];

/// How many attempts are made at once. The others wait.
const MAX_ACTING: usize = 64;
/// How many attempts may be under way, waiting ones included.
const MAX_ATTEMPTS: usize = 1_024;
/// How many readings of the ledger are made at once. The others wait.
const MAX_READING: usize = 8;

/// When a client first hears that an attempt is under way, and how often from then on.
const FIRST_PROGRESS: Duration = Duration::from_secs(1);
const EACH_PROGRESS: Duration = Duration::from_secs(5);

/// The agent's door to one book. Its clones are the same server.
#[derive(Clone)]
pub struct Server(Arc<Shared>);

struct Shared {
    book: Book,
    executors: Executors,
    agent: Option<Name>,
    tools: Vec<Tool>,
    pace: Pace,
    acting: Semaphore,
    attempts: Semaphore,
    reading: Semaphore,
    end: watch::Sender<End>,
}

/// What `grant_discharge` asks for.
#[derive(Clone)]
struct Asked {
    object: Object,
    action: Option<Name>,
    executor: Name,
    key: Option<Name>,
}

/// Why an attempt ended before there was a row of it.
enum Left {
    /// The client does not want it any more.
    Cancelled,
    /// A refusal is to be recorded, and it is not its turn.
    NotYet,
}

/// The client of one attempt, as the thread that makes the attempt sees it.
struct Client<'a> {
    stop: &'a Stop,
    pace: &'a Pace,
    /// It was its turn to be refused.
    admitted: bool,
}

impl Asker for Client<'_> {
    type Left = Left;

    fn before(&self, step: Step) -> Result<(), Left> {
        match step {
            _ if self.stop.is_stopped() => Err(Left::Cancelled),
            Step::Refusal if !self.admitted && !self.pace.try_turn() => Err(Left::NotYet),
            _ => Ok(()),
        }
    }
}

impl Server {
    /// A server for this book, which runs these executors. Its attempts are made in this agent's
    /// name.
    pub fn new(book: Book, executors: Executors, agent: Option<Name>) -> Server {
        Server(Arc::new(Shared {
            book,
            executors,
            agent,
            tools: tools::all(),
            pace: Pace::new(),
            acting: Semaphore::new(MAX_ACTING),
            attempts: Semaphore::new(MAX_ATTEMPTS),
            reading: Semaphore::new(MAX_READING),
            end: watch::Sender::new(End::Open),
        }))
    }

    /// The book, the agent and the executors, in one line.
    pub fn describe(&self) -> String {
        let Shared { book, executors, agent, .. } = &*self.0;
        let id = match book.ledger.row(1) {
            Ok(Some(_)) => book.id().map_or_else(|e| format!("({e})"), |id| id.to_string()),
            Ok(None) => "(still empty)".to_owned(),
            Err(e) => format!("({e})"),
        };
        let agent = agent.as_ref().map_or("none".to_owned(), |agent| format!("`{agent}`"));
        let ledger = book.home().ledger().display();
        format!("book {id} in {ledger}; agent {agent}; executors {executors}")
    }

    /// Runs what reads the ledger away from the wire.
    async fn read(
        &self,
        read: impl FnOnce(&Book) -> Result<Value, String> + Send + 'static,
    ) -> Result<CallToolResponse, ErrorData> {
        let server = self.clone();
        // It is never closed.
        let _turn = self.0.reading.acquire().await.map_err(internal)?;
        let reading = tokio::task::spawn_blocking(move || read(server.book()));
        Ok(answer(reading.await.map_err(internal)?))
    }

    /// Whether no call is under way but the one that asks.
    fn is_idle(&self) -> bool {
        let Shared { attempts, reading, .. } = &*self.0;
        attempts.available_permits() == MAX_ATTEMPTS && reading.available_permits() == MAX_READING
    }

    async fn grant_status(&self, mut args: Arguments) -> Result<CallToolResponse, ErrorData> {
        let object = args.object()?;
        args.end()?;
        let look = move |book: &Book| {
            let view = of_object(book, &object).map_err(|e| e.to_string())?;
            serde_json::to_value(view.json(LAST_ROWS)).map_err(|e| e.to_string())
        };
        match self.is_idle() {
            // Nobody waits meanwhile, and it takes less than the way to another thread and back.
            true => Ok(answer(look(self.book()))),
            false => self.read(look).await,
        }
    }

    async fn ledger_tail(&self, mut args: Arguments) -> Result<CallToolResponse, ErrorData> {
        let count = args.count("n", MAX_ROWS)?.unwrap_or(DEFAULT_ROWS);
        let object_id = args.object_id()?;
        args.end()?;
        self.read(move |book| {
            let filter = Filter { object_id, kinds: KINDS, ..Filter::default() };
            let count = usize::try_from(count).unwrap_or(usize::MAX);
            let (shown, _) = tail(&*book.ledger, &filter, count).map_err(|e| e.to_string())?;
            let mut rows = Vec::with_capacity(shown.len());
            for line in shown {
                rows.push(line.value()?);
            }
            Ok(serde_json::json!({ "rows": rows }))
        })
        .await
    }

    async fn grant_discharge(
        &self,
        mut args: Arguments,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let asked = Asked {
            object: args.object()?,
            executor: args.required("executor")?,
            action: args.optional("action")?,
            key: args.optional("key")?,
        };
        args.end()?;
        let Ok(_turn) = self.0.attempts.try_acquire() else {
            return Ok(failed(&format!(
                "{MAX_ATTEMPTS} attempts are under way: nothing was done; ask again when one has ended"
            )));
        };
        let mut made = std::pin::pin!(self.attempt(asked, &context.ct));
        let report = match context.meta.get_progress_token() {
            None => made.await?,
            Some(token) => {
                let began = Instant::now();
                let mut due = interval_at(began + FIRST_PROGRESS, EACH_PROGRESS);
                loop {
                    tokio::select! {
                        biased;
                        report = &mut made => break report?,
                        () = context.ct.cancelled() => break made.await?,
                        _ = due.tick() => {}
                    }
                    let spent = began.elapsed();
                    let told = ProgressNotificationParam::new(token.clone(), spent.as_secs_f64())
                        .with_message(format!("under way for {} s", spent.as_secs()));
                    tokio::select! {
                        biased;
                        report = &mut made => break report?,
                        // A client that cannot be told will not be told the outcome either.
                        _ = context.peer.notify_progress(told) => {}
                    }
                }
            }
        };
        match report {
            Some(report) => {
                let report = serde_json::to_value(&report).map_err(internal)?;
                Ok(CallToolResult::structured(report).into())
            }
            None => Ok(failed("it was stopped before anything was done")),
        }
    }

    /// Makes an attempt; `None` if it was given up before there was a row of it.
    async fn attempt(
        &self,
        asked: Asked,
        cancelled: &CancellationToken,
    ) -> Result<Option<Report>, ErrorData> {
        let mut admitted = false;
        loop {
            // It is never closed.
            let turn = tokio::select! {
                biased;
                () = self.given_up(cancelled) => return Ok(None),
                turn = self.0.acting.acquire() => turn.map_err(internal)?,
            };
            let stop = Stop::new().map_err(internal)?;
            let making = tokio::task::spawn_blocking({
                let (server, asked, stop) = (self.clone(), asked.clone(), stop.clone());
                move || server.make(asked, &stop, admitted)
            });
            let mut making = std::pin::pin!(making);
            let made = tokio::select! {
                biased;
                made = &mut making => made,
                () = self.given_up(cancelled) => {
                    stop.stop();
                    making.await
                }
            };
            match made.map_err(internal)? {
                Ok(report) => return Ok(Some(report)),
                Err(Left::Cancelled) => return Ok(None),
                Err(Left::NotYet) => {}
            }
            // Nothing is held while it waits, and what is decided is decided afterwards.
            drop(turn);
            tokio::select! {
                biased;
                () = self.given_up(cancelled) => return Ok(None),
                () = self.0.pace.turn() => admitted = true,
            }
        }
    }

    /// One run of the pipeline, in a thread of its own.
    fn make(&self, asked: Asked, stop: &Stop, admitted: bool) -> Result<Report, Left> {
        let Shared { book, executors, agent, pace, .. } = &*self.0;
        let mut command = executors.command(asked.executor.clone(), stop.clone());
        let request = granted_core::decision::discharge::Request {
            object: asked.object,
            action: asked.action,
            executor: asked.executor,
            agent: agent.clone(),
            key: asked.key,
            timeout: command.timeout(),
        };
        let made = attempt(book, &request, &mut command, &Client { stop, pace, admitted });
        book.news.tell_aside();
        made
    }

    /// Waits until the client cancels the call, or the server is told to stop.
    async fn given_up(&self, cancelled: &CancellationToken) {
        let mut end = self.0.end.subscribe();
        tokio::select! {
            () = cancelled.cancelled() => {}
            // The sender is held by the server itself.
            _ = end.wait_for(|end| *end == End::Stopping) => {}
        }
    }
}

impl Serves for Server {
    const LONG: &'static str = DISCHARGE;

    fn end(&self) -> watch::Sender<End> {
        self.0.end.clone()
    }

    fn book(&self) -> &Book {
        &self.0.book
    }

    fn upkeep(&self) -> Result<(), String> {
        tick(self.book()).map(drop).map_err(|e| e.to_string())
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let implementation = Implementation::new("granted", env!("CARGO_PKG_VERSION"))
            .with_title("granted")
            .with_description(env!("CARGO_PKG_DESCRIPTION"));
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(implementation)
            .with_instructions(tools::INSTRUCTIONS)
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
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let args = request.arguments.unwrap_or_default();
        match &*request.name {
            STATUS => self.grant_status(Arguments::new(args, tools::STATUS_TAKES)).await,
            TAIL => self.ledger_tail(Arguments::new(args, tools::TAIL_TAKES)).await,
            DISCHARGE => {
                let args = Arguments::new(args, tools::DISCHARGE_TAKES);
                self.grant_discharge(args, context).await
            }
            other => {
                let tools = format!("`{STATUS}`, `{DISCHARGE}` and `{TAIL}`");
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
