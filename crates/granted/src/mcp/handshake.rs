//! What every server says before its tools are called.

use rmcp::model::{
    CustomRequest, CustomResult, ErrorCode, ErrorData, InitializeRequestParams, InitializeResult,
    InitializeResultMethod, ProtocolVersion,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};

/// The versions of the protocol that are spoken, oldest first.
pub const PROTOCOLS: &[ProtocolVersion] = ProtocolVersion::KNOWN_VERSIONS;

/// The methods that are served.
const METHODS: &[&str] = &["server/discover", "tools/list", "tools/call"];
/// Those that are served beside them to clients that shake hands.
const LEGACY_METHODS: &[&str] = &["initialize", "ping"];

/// Agrees on a version, with a client that shakes hands.
pub(super) fn initialize(
    server: &impl ServerHandler,
    mut request: InitializeRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<InitializeResult, ErrorData> {
    if is_modern(context) {
        return Err(ErrorData::method_not_found::<InitializeResultMethod>());
    }
    let answer = server.negotiate_initialize(&request)?;
    // What was agreed on, also where a client asks a second time.
    request.protocol_version = answer.protocol_version.clone();
    context.peer.set_peer_info(request);
    Ok(answer)
}

/// Why a request of another method is not served.
pub(super) fn custom(
    request: CustomRequest,
    context: &RequestContext<RoleServer>,
) -> Result<CustomResult, ErrorData> {
    // A method that is served gets here only if its parameters could not be read.
    let method = &*request.method;
    let served = match is_modern(context) {
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

/// Whether a request is of the generation that has no handshake.
fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    context.meta.protocol_version().is_some_and(|version| !version.has_initialize())
}
