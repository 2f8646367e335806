//! Decide once: grants that agents discharge, and a ledger that confirms it.
//!
//! A person mints a grant for one object, with a deadline, by `granted mint`. A program discharges
//! it: the grant is claimed by a row in the ledger, a closure of the program's acts, once, and the
//! ledger confirms what came of it. Every attempt ends as a [`Report`], which is returned and never
//! raised.
//!
//! In scope: carrying out what a person decided, and looking at it; and the program `granted` itself,
//! in [`cli`]. Not in scope: minting. That is the person's verb and lives in the command line; no
//! other function leads to it.
//!
//! ```
//! use granted::{Book, Door, Home, Json, Request, Verdict, discharge};
//!
//! # let dir = tempfile::tempdir()?;
//! # unsafe { std::env::set_var("GRANTED_HOME", dir.path()) };
//! # let mint = "granted mint --type report --id 2026-09-30 --by owner --for 1h --allow send";
//! # assert_eq!(granted::cli::run(mint.split(' ').map(Into::into)), 0);
//! let book = Book::open(Home::from_env()?, Door::Library);
//! let request = Request::new("report", "2026-09-30", "mailer")?.action("send")?;
//! let report = discharge(&book, &request, |grant, act| {
//!     let message_id = format!("<{}@example.com>", grant.object.id); // the program sends it
//!     act.result(true, Some(Json::object([("message_id", message_id.as_str().into())])));
//!     Verdict::Done
//! });
//! assert_eq!(report.to_string(), "discharged: confirmed (report/2026-09-30) -- result row line 4");
//!
//! let again = discharge(&book, &request, |_, _| unreachable!("the grant is spent"));
//! assert_eq!(again.reason.as_str(), "consumed");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A closure that returns [`Verdict::Done`] without writing a result is `uncertain`: its word alone
//! confirms nothing. One that panics has failed.
#![cfg_attr(
    test,
    allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)
)]

mod book;
pub mod cli;
mod clock;
mod config;
mod decision;
mod doctor;
mod files;
mod home;
mod hosts;
mod inbox;
mod keys;
pub mod ledger;
pub mod mcp;
mod news;
mod render;
mod sign;
mod spend;
mod ssh;
mod terminal;
mod timer;
mod write;

pub use book::Book;
pub use config::{Config, ConfigError, ExecutorEntry, NotifyEntry};
pub use decision::actor::Act;
pub use decision::status::View;
pub use granted_core::decision::conclude::Verdict;
pub use granted_core::decision::discharge::Request;
pub use granted_core::decision::{Class, Grant, Object, REASONS, Reason, Report, Status};
pub use granted_core::json::Json;
pub use granted_core::ledger::Door;
pub use granted_core::store::ReadError;
pub use home::{Home, HomeError};
pub use sign::{SignError, Signer};

/// Asking for payments inside a budget, as `sats agent serve` does for an agent. Nothing in it approves one.
pub mod asking {
    pub use crate::spend::Spends;
    pub use crate::spend::file::{Asked, Session, file};
}

/// Discharges an object with a closure as executor, and answers with the outcome.
///
/// The closure is called at most once, with the grant as it was minted, and only after its claim
/// is durable. If the person is to be told of the outcome, a thread does that; dropping the book waits
/// for it.
pub fn discharge(
    book: &Book,
    request: &Request,
    closure: impl FnOnce(&Grant, &mut Act) -> Verdict,
) -> Report {
    let mut closure = decision::actor::Closure::new(closure);
    let report = decision::discharge::discharge(book, request, &mut closure);
    book.news.tell_aside();
    report
}

/// Discharges an object through the executor of the config that the request names, and answers with
/// the outcome. It may take as long as the request and the executor's entry both allow.
///
/// An error says that the system had no pipe to spare: then nothing was written.
///
/// ```
/// use granted::{Book, Config, Door, Home, Request, discharge_through};
///
/// # let dir = tempfile::tempdir()?;
/// # unsafe { std::env::set_var("GRANTED_HOME", dir.path()) };
/// # let mint = "granted mint --type report --id 2026-09-30 --by owner --for 1h";
/// # assert_eq!(granted::cli::run(mint.split(' ').map(Into::into)), 0);
/// let book = Book::open(Home::from_env()?, Door::Library);
/// let config = Config::parse("[executors.ping]\nargv = ['true']\ncwd = '/'\n")?;
/// let report = discharge_through(&book, &config, &Request::new("report", "2026-09-30", "ping")?)?;
/// assert_eq!(report.to_string(), "discharged: confirmed (report/2026-09-30) -- result row line 4");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn discharge_through(
    book: &Book,
    config: &Config,
    request: &Request,
) -> std::io::Result<Report> {
    let stop = granted_exec::Stop::new()?;
    let mut command = decision::actor::Command::registered(config, request.executor.clone(), stop);
    let timeout = request.timeout.min(command.timeout());
    let request = Request { timeout, ..request.clone() };
    Ok(decision::discharge::discharge(book, &request, &mut command))
}

/// The grant that speaks for an object, and what its status is now. Writes nothing.
pub fn status(book: &Book, object: &Object) -> Result<View, ReadError> {
    decision::status::of_object(book, object)
}
