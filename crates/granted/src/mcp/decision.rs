//! The tools of decisions: look at a grant, discharge it, read the ledger.

use std::sync::Arc;

use granted_core::decision::discharge::Request;
use granted_core::decision::{Object, Report};
use granted_core::text::Name;
use rmcp::RoleServer;
use rmcp::model::{CallToolResponse, ErrorData, JsonObject, Tool};
use rmcp::service::RequestContext;
use serde_json::Value;
use tokio::sync::watch;

pub(super) mod executors;
mod schema;
mod tools;

use super::arguments::Arguments;
use super::attempts::{Attempts, Client, Left};
use super::readings::Readings;
use super::server::{Server, Tools, answer};
use super::wire::End;
use crate::book::Book;
use crate::decision::discharge::attempt;
use crate::decision::status::{LAST_ROWS, of_object};
use crate::decision::tick::tick;
use crate::ledger::tail::{Filter, tail};
use executors::Executors;
use schema::{DEFAULT_ROWS, DISCHARGE, MAX_ROWS, STATUS, TAIL};

/// The kinds of rows that the tools show, by their beginnings.
const KINDS: &[&str] = &["decision.", "ledger."];

/// The agent's door to the decisions of one book.
pub struct Decisions {
    book: Book,
    executors: Executors,
    agent: Option<Name>,
    tools: Vec<Tool>,
    attempts: Arc<Attempts>,
    readings: Readings,
}

/// What `grant_discharge` asks for.
struct Asked {
    object: Object,
    action: Option<Name>,
    executor: Name,
    key: Option<Name>,
}

impl Server<Decisions> {
    /// A server for this book, which runs these executors. Its attempts are made in this agent's
    /// name.
    pub fn new(book: Book, executors: Executors, agent: Option<Name>) -> Server<Decisions> {
        let end = watch::Sender::new(End::Open);
        let decisions = Decisions {
            book,
            executors,
            agent,
            tools: tools::all(),
            attempts: Arc::new(Attempts::new(end.clone())),
            readings: Readings::new(),
        };
        Server::of(decisions, end)
    }

    /// The book, the agent and the executors, in one line.
    pub fn describe(&self) -> String {
        let Decisions { book, executors, agent, .. } = self.tools();
        let agent = agent.as_ref().map_or("none".to_owned(), |agent| format!("`{agent}`"));
        format!("{}; agent {agent}; executors {executors}", book.describe())
    }

    /// Runs what reads the ledger away from the wire.
    async fn read(
        &self,
        read: impl FnOnce(&Book) -> Result<Value, String> + Send + 'static,
    ) -> Result<CallToolResponse, ErrorData> {
        let server = self.clone();
        self.tools().readings.make(move || read(&server.tools().book)).await
    }

    /// Whether no call is under way but the one that asks.
    fn is_idle(&self) -> bool {
        let Decisions { attempts, readings, .. } = self.tools();
        attempts.are_none() && readings.are_none()
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
            true => Ok(answer(look(&self.tools().book))),
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
        let server = self.clone();
        let make = move |client: &Client<'_>| server.discharge(&asked, client);
        self.tools().attempts.make(make, &context).await
    }

    /// One run of the pipeline, in a thread of its own.
    fn discharge(&self, asked: &Asked, client: &Client<'_>) -> Result<Report, Left> {
        let Decisions { book, executors, agent, .. } = self.tools();
        let mut command = executors.command(asked.executor.clone(), client.stop.clone());
        let request = Request {
            object: asked.object.clone(),
            action: asked.action.clone(),
            executor: asked.executor.clone(),
            agent: agent.clone(),
            key: asked.key.clone(),
            timeout: command.timeout(),
        };
        let made = attempt(book, &request, &mut command, client);
        book.news.tell_aside();
        made
    }
}

impl Tools for Decisions {
    const INSTRUCTIONS: &'static str = tools::INSTRUCTIONS;
    const LONG: &'static [&'static str] = &[DISCHARGE];
    const MAX_FRAME: usize = 1024 * 1024;

    fn book(&self) -> &Book {
        &self.book
    }

    fn list(&self) -> Vec<Tool> {
        self.tools.clone()
    }

    fn tick(&self) -> Result<(), String> {
        tick(&self.book).map(drop).map_err(|e| e.to_string())
    }

    async fn call(
        server: &Server<Decisions>,
        tool: &str,
        args: JsonObject,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        match tool {
            STATUS => server.grant_status(Arguments::new(args, tools::STATUS_TAKES)).await,
            TAIL => server.ledger_tail(Arguments::new(args, tools::TAIL_TAKES)).await,
            DISCHARGE => {
                let args = Arguments::new(args, tools::DISCHARGE_TAKES);
                server.grant_discharge(args, context).await
            }
            other => Err(super::server::no_tool(other, &[STATUS, DISCHARGE, TAIL])),
        }
    }
}
