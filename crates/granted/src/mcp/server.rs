//! The server: the protocol, over the tools of one shape of authority. None of them widens it.

use std::borrow::Cow;
use std::sync::Arc;

use granted_core::text::{Shown, cut};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CustomRequest,
    CustomResult, ErrorCode, ErrorData, Implementation, InitializeRequestParams, InitializeResult,
    InitializeResultMethod, JsonObject, ListToolsResult, PaginatedRequestParams, ProtocolVersion,
    ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use serde_json::Value;
use tokio::sync::watch;

use super::decision::Decisions;
use super::wire::End;
use crate::book::Book;

/// The versions of the protocol that are spoken, oldest first.
pub const PROTOCOLS: &[ProtocolVersion] = ProtocolVersion::KNOWN_VERSIONS;

/// The methods that are served.
const METHODS: &[&str] = &["server/discover", "tools/list", "tools/call"];
/// Those that are served beside them to clients that shake hands.
const LEGACY_METHODS: &[&str] = &["initialize", "ping"];

/// The tools of one shape of authority.
pub trait Tools: Sized + Send + Sync + 'static {
    /// The tools that may take as long as a program does that they run.
    const LONG: &'static [&'static str];
    /// The most bytes of a frame, without its LF.
    const MAX_FRAME: usize;

    /// The server's name, and what it is for.
    fn about(&self) -> (&'static str, &'static str) {
        ("granted", env!("CARGO_PKG_DESCRIPTION"))
    }

    /// What an agent is told before anything else.
    fn instructions(&self) -> String;

    /// The book.
    fn book(&self) -> &Book;

    /// The tools that there are now.
    fn list(&self) -> Vec<Tool>;

    /// Records what only time brings about: once a minute, in a thread of its own.
    fn tick(&self) -> Result<(), String>;

    /// Calls one.
    fn call(
        server: &Server<Self>,
        tool: &str,
        args: JsonObject,
        context: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<CallToolResponse, ErrorData>> + Send;
}

/// The agent's door to one book. Its clones are the same server.
pub struct Server<T = Decisions>(Arc<Shared<T>>);

struct Shared<T> {
    tools: T,
    end: watch::Sender<End>,
}

impl<T> Clone for Server<T> {
    fn clone(&self) -> Server<T> {
        Server(self.0.clone())
    }
}

impl<T: Tools> Server<T> {
    /// A server of these tools, which ends so.
    pub(super) fn of(tools: T, end: watch::Sender<End>) -> Server<T> {
        Server(Arc::new(Shared { tools, end }))
    }

    pub(super) fn tools(&self) -> &T {
        &self.0.tools
    }

    pub(super) fn end(&self) -> watch::Sender<End> {
        self.0.end.clone()
    }
}

impl<T: Tools> ServerHandler for Server<T> {
    fn get_info(&self) -> ServerConfig {
        let (name, description) = self.tools().about();
        let implementation = Implementation::new(name, env!("CARGO_PKG_VERSION"))
            .with_title(name)
            .with_description(description);
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(implementation)
            .with_instructions(self.tools().instructions())
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(PROTOCOLS)
    }

    async fn initialize(
        &self,
        mut request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        if is_modern(&context) {
            return Err(ErrorData::method_not_found::<InitializeResultMethod>());
        }
        let answer = self.negotiate_initialize(&request)?;
        // What was agreed on, also where a client asks a second time.
        request.protocol_version = answer.protocol_version.clone();
        context.peer.set_peer_info(request);
        Ok(answer)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools().list()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.tools().list().into_iter().find(|tool| tool.name == name)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        T::call(self, &request.name, request.arguments.unwrap_or_default(), context).await
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        // A method that is served gets here only if its parameters could not be read.
        let method = &*request.method;
        let served = match is_modern(&context) {
            true => METHODS.contains(&method),
            false => METHODS.contains(&method) || LEGACY_METHODS.contains(&method),
        };
        match served {
            true => {
                let why = format!("the parameters of `{}` have the wrong form", request.method);
                Err(ErrorData::invalid_params(why, None))
            }
            false => Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, request.method, None)),
        }
    }
}

/// What a tool read, or why it could not.
pub(super) fn answer(read: Result<Value, String>) -> CallToolResponse {
    match read {
        Ok(value) => CallToolResult::structured(value).into(),
        Err(why) => failed(&why),
    }
}

/// The tool could not answer. Told as its result, since clients hide protocol errors from models.
pub(super) fn failed(why: &str) -> CallToolResponse {
    let why = Shown(why).to_string();
    CallToolResult::error(vec![ContentBlock::text(why)]).into()
}

/// There is no such tool, but these.
pub(super) fn no_tool(name: &str, tools: &[&str]) -> ErrorData {
    let tools: Vec<String> = tools.iter().map(|tool| format!("`{tool}`")).collect();
    let tools = match tools.split_last() {
        Some((last, [])) => format!("the tool is {last}"),
        Some((last, others)) => format!("the tools are {} and {last}", others.join(", ")),
        None => "there are no tools now".to_owned(),
    };
    let name = cut(name, 64);
    ErrorData::invalid_params(format!("there is no tool `{}`; {tools}", Shown(&name)), None)
}

pub(super) fn internal(error: impl std::fmt::Display) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}

/// Whether a request is of the generation that has no handshake.
fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    context.meta.protocol_version().is_some_and(|version| !version.has_initialize())
}
