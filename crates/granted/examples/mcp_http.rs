//! Serves the agent's side over HTTP on loopback, for test suites that speak nothing else.
//!
//! `mcp_http PORT` (0: any) in a home that `GRANTED_HOME` names. Not a door of granted: it knows nobody, so
//! whoever reaches the port may discharge.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

use std::sync::Arc;

use granted::mcp::{Executors, Server};
use granted::{Book, Door, Home};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let port: u16 = std::env::args().nth(1).unwrap().parse().unwrap();
    let book = Book::open(Home::from_env().unwrap(), Door::Mcp);
    let executors = Executors::new(book.config().unwrap(), Vec::new()).unwrap();
    let server = Server::new(book, executors, None);
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let origins = [format!("http://127.0.0.1:{port}"), format!("http://localhost:{port}")];
    let config = StreamableHttpServerConfig::default().with_allowed_origins(origins);
    let sessions = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(server.clone()), sessions, config);
    eprintln!("serving http://127.0.0.1:{port}/mcp");
    axum::serve(listener, axum::Router::new().nest_service("/mcp", service)).await.unwrap();
}
