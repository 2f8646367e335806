//! What a call is answered with.

use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock, ErrorData};
use serde_json::Value;

/// What a tool read, or why it could not.
pub(super) fn answer(read: Result<Value, String>) -> CallToolResponse {
    match read {
        Ok(value) => CallToolResult::structured(value).into(),
        Err(why) => failed(&why),
    }
}

/// The tool could not answer. Told as its result, since clients hide protocol errors from models.
pub(super) fn failed(why: &str) -> CallToolResponse {
    let why = granted_core::text::Shown(why).to_string();
    CallToolResult::error(vec![ContentBlock::text(why)]).into()
}

/// The server itself could not.
pub(super) fn internal(error: impl std::fmt::Display) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}

/// There is no such tool.
pub(super) fn no_tool(name: &str, tools: &str) -> ErrorData {
    let name = granted_core::text::cut(name, 64);
    let name = granted_core::text::Shown(&name);
    ErrorData::invalid_params(format!("there is no tool `{name}`; the tools are {tools}"), None)
}
