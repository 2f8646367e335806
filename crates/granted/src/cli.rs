//! The command line: parse, run one verb, turn its end into an exit code.

use std::ffi::OsString;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use clap::error::ErrorKind;
use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

mod args;
mod asked;
mod completions;
mod discharge;
mod executors;
mod failure;
mod lag;
mod ledger;
mod list;
mod man;
mod mcp;
mod mint;
mod out;
mod proof;
mod resolve;
mod result;
mod revoke;
mod sheet;
mod show;
pub(crate) mod status;
mod tick;
mod timer;
mod usage;
mod verify;
mod version;

pub use failure::ERROR_KINDS;
use failure::Failure;
use out::Out;

/// Decide once: grants that agents discharge, and a ledger that confirms it.
///
/// A person mints a grant for one object, with a deadline. An agent discharges it through an
/// executor, inside the bounds that the person set. Every attempt ends as one of discharged,
/// refused, uncertain or expired, with a reason, and leaves a row in the ledger.
#[derive(Parser)]
#[command(name = "granted", version, max_term_width = 100, after_help = AFTER_HELP)]
#[command(subcommand_value_name = "VERB", subcommand_help_heading = "Verbs")]
struct Cli {
    /// Print JSON: the shapes of docs/cli.md.
    #[arg(long, global = true)]
    json: bool,
    /// With --version: also the commit, the target, and the formats that are spoken.
    #[arg(long, requires = "version")]
    verbose: bool,
    #[command(subcommand)]
    verb: Verb,
}

const AFTER_HELP: &str = "\
Begin with:
  granted mint --type report --id 2026-09-30 --by \"owner keystroke\" --for 24h --allow send
  granted status --type report --id 2026-09-30
  granted discharge --type report --id 2026-09-30 --action send --exec ./send_report.sh
  granted ledger

Exit codes: 0 done or discharged, 1 error, 2 usage, 3 refused, 4 uncertain, 5 expired.
Files: ~/.granted, or GRANTED_HOME; GRANTED_LEDGER and GRANTED_STORE move the ledger and the grants.";

#[derive(Subcommand)]
enum Verb {
    Mint(mint::Args),
    Status(status::Args),
    List(list::Args),
    Show(show::Args),
    Discharge(discharge::Args),
    Result(result::Args),
    Resolve(resolve::Args),
    Revoke(revoke::Args),
    Tick(tick::Args),
    Timer(timer::Args),
    Ledger(ledger::Args),
    Proof(proof::Args),
    Verify(verify::Args),
    Lag(lag::Args),
    Executors(executors::Args),
    Mcp(mcp::Args),
    Completions(completions::Args),
    Man(man::Args),
}

impl Verb {
    /// Whether it does more than to print something.
    fn acts(&self) -> bool {
        !matches!(
            self,
            Verb::Status(_)
                | Verb::List(_)
                | Verb::Show(_)
                | Verb::Ledger(_)
                | Verb::Proof(_)
                | Verb::Verify(_)
                | Verb::Lag(_)
                | Verb::Executors(_)
                | Verb::Completions(_)
                | Verb::Man(_)
        )
    }
}

/// The command line's own description: every verb, flag and help text.
pub fn command() -> clap::Command {
    Cli::command()
}

/// Runs the command line of these arguments; the exit code.
pub fn run(args: impl IntoIterator<Item = OsString>) -> u8 {
    survive_file_size_limits();
    let args: Vec<OsString> = args.into_iter().collect();
    // Known before the arguments are parsed, so that a bad one is told in the form asked for.
    let json = args.iter().any(|arg| arg == "--json");
    let out = Out::new(json);
    let mut command = command();
    let parsed = command
        .try_get_matches_from_mut(&args)
        .and_then(|mut matches| Cli::from_arg_matches_mut(&mut matches));
    let acts = parsed.as_ref().is_ok_and(|cli| cli.verb.acts());
    let ended = match parsed {
        Ok(cli) => verb(cli.verb, &out),
        Err(e) if e.kind() == ErrorKind::DisplayVersion => {
            // Parsing ends at --version, so what stands behind it is not known from there.
            Ok(version::show(args.iter().any(|arg| arg == "--verbose"), &out))
        }
        Err(e) if usage::is_answer(&e) => {
            out.printed(e.print());
            Ok(u8::try_from(e.exit_code()).unwrap_or(2))
        }
        Err(e) => Err(usage::failure(&e, &command, &args)),
    };
    let code = ended.unwrap_or_else(|failure| out.failure(&failure));
    // What was done stays done, so the exit code of a verb that does something stands.
    let code = match out.trouble().map(|trouble| out.failure(&trouble)) {
        Some(unprinted) if !acts => unprinted,
        _ => code,
    };
    out.tell();
    code
}

fn verb(verb: Verb, out: &Out) -> Result<u8, Failure> {
    match verb {
        Verb::Mint(args) => mint::run(args, out),
        Verb::Status(args) => status::run(args, out),
        Verb::List(args) => list::run(args, out),
        Verb::Show(args) => show::run(args, out),
        Verb::Discharge(args) => discharge::run(args, out),
        Verb::Result(args) => result::run(args, out),
        Verb::Resolve(args) => resolve::run(args, out),
        Verb::Revoke(args) => revoke::run(args, out),
        Verb::Tick(args) => tick::run(args, out),
        Verb::Timer(args) => timer::run(args, out),
        Verb::Ledger(args) => ledger::run(args, out),
        Verb::Proof(args) => proof::run(&args, out),
        Verb::Verify(args) => verify::run(&args, out),
        Verb::Lag(args) => lag::run(args, out),
        Verb::Executors(args) => executors::run(args, out),
        Verb::Mcp(args) => mcp::run(args, out),
        Verb::Completions(args) => Ok(completions::run(&args, out)),
        Verb::Man(args) => man::run(&args, out),
    }
}

/// Has a write beyond the file-size limit fail instead of ending the process: a signal that has a
/// handler does not. Programs that are run get the default back.
fn survive_file_size_limits() {
    let flag = Arc::new(AtomicBool::new(false));
    // Refused only for signals that nobody may handle; this is none of them.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, flag);
}
