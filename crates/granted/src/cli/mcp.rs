//! `granted mcp`

use granted_core::ledger::Door;
use granted_core::text::Name;

use super::failure::Failure;
use super::out::Out;
use crate::book::Book;
use crate::home::Home;
use crate::mcp::{Executors, Given, Server, serve};

/// Serve the agent's side over the Model Context Protocol, on stdin and stdout.
///
/// Three tools: grant_status, grant_discharge and ledger_tail. None of them mints, and an agent
/// runs only executors that are registered here or in config.toml.
///
/// Ends with exit code 0 when stdin ends, after what runs has ended and is recorded. TERM, INT and
/// HUP stop what runs; it is recorded as interrupted.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// An executor beside those of config.toml: a command for /bin/sh, run in this directory.
    #[arg(long = "executor", value_name = "NAME=COMMAND")]
    executors: Vec<Given>,
    /// In whose name attempts are made; needed for grants that name an agent.
    #[arg(long, value_name = "NAME")]
    agent: Option<Name>,
}

const AFTER_HELP: &str = "\
Example, in a client's configuration:
  {\"command\": \"granted\", \"args\": [\"mcp\", \"--agent\", \"claude\"]}";

pub(crate) fn run(args: Args, out: &Out) -> Result<u8, Failure> {
    let book = Book::open(Home::from_env()?, Door::Mcp);
    book.news.remark_by(remark);
    let executors = Executors::new(book.config()?, args.executors).map_err(Failure::usage)?;
    let server = Server::new(book, executors, args.agent);
    out.remark(format_args!("granted mcp: {}", server.describe()));
    serve(server, remark).map_err(Failure::system)?;
    Ok(0)
}

/// One line to stderr: stdout is the wire.
pub(super) fn remark(text: &str) {
    Out::new(true).remark(format_args!("granted mcp: {}", granted_core::text::Shown(text)));
}
