//! `granted writes mcp`

use granted_core::ledger::Door;
use granted_core::write::Agent;

use super::super::failure::Failure;
use super::super::mcp::remark;
use super::super::out::Out;
use super::ProjectArgs;
use crate::book::Book;
use crate::home::Home;
use crate::mcp::{Server, serve};

/// Serve one agent's door to the files of a project over the Model Context Protocol, on stdin and stdout.
///
/// The tools are those that granted.toml names for the agent, out of read_file_hashed, write_file,
/// delete_file, propose_changes and request_status. None of them approves. What the agent files waits for
/// you, unless you signed a direct grant.
///
/// Ends with exit code 0 when stdin ends, after what runs has ended and is recorded.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The agent, as the brief names it.
    #[arg(long, value_name = "NAME")]
    agent: Agent,
    #[command(flatten)]
    project: ProjectArgs,
}

const AFTER_HELP: &str = "\
Example, in a client's configuration:
  {\"command\": \"granted\", \"args\": [\"writes\", \"mcp\", \"--agent\", \"producer\", \"--project\", \".\"]}";

pub(crate) fn run(args: Args, out: &Out) -> Result<u8, Failure> {
    let book = Book::open(Home::from_env()?, Door::Mcp);
    book.news.remark_by(remark);
    // Its witnesses count as they are now.
    book.config()?;
    let project = args.project.open()?;
    let server = Server::start(book, &project, args.agent)?;
    out.remark(format_args!("granted writes mcp: {}", server.describe()));
    serve(server, remark).map_err(Failure::system)?;
    Ok(0)
}
