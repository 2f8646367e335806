//! The command line: parse, run one verb, turn its end into an exit code.

use std::ffi::OsString;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use clap::error::ErrorKind;
use clap::{Args as _, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

mod agree;
mod args;
mod asked;
mod bound;
mod completions;
mod discharge;
mod doctor;
mod elsewhere;
mod executors;
mod failure;
mod inbox;
mod key;
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
mod sats;
mod sheet;
mod show;
mod sign_with;
pub(crate) mod status;
mod tick;
mod timer;
mod trust;
mod usage;
mod verify;
mod version;
mod writes;

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
    #[command(flatten)]
    form: Form,
    /// With --version: also the commit, the target, and the formats that are spoken.
    #[arg(long, requires = "version")]
    verbose: bool,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(clap::Args)]
struct Form {
    /// Print JSON: the shapes of docs/cli.md.
    #[arg(long, global = true, display_order = 900)]
    json: bool,
}

const AFTER_HELP: &str = "\
Begin with:
  granted mint --type report --id 2026-09-30 --by \"owner keystroke\" --for 24h --allow send
  granted status --type report --id 2026-09-30
  granted discharge --type report --id 2026-09-30 --action send --exec ./send_report.sh
  granted ledger

Exit codes: 0 done or discharged, 1 error, 2 usage, 3 refused, 4 uncertain, 5 expired.
Files: ~/.granted, or GRANTED_HOME; GRANTED_LEDGER and GRANTED_STORE move the ledger and the grants.";

/// The verbs: each is a module with the arguments and the run of one.
macro_rules! verbs {
    ($($module:ident $verb:ident,)*) => {
        #[derive(Subcommand)]
        enum Verb {
            $($verb($module::Args),)*
        }

        /// The command line of one verb, without the others.
        fn only(name: &str) -> Option<clap::Command> {
            $(if name == stringify!($module) {
                return Some($module::Args::augment_args(clap::Command::new(stringify!($module))));
            })*
            None
        }

        fn run_verb(verb: Verb, out: &Out) -> Result<u8, Failure> {
            match verb {
                $(Verb::$verb(args) => $module::run(args, out),)*
            }
        }
    };
}

verbs! {
    mint Mint,
    status Status,
    list List,
    show Show,
    discharge Discharge,
    result Result,
    resolve Resolve,
    revoke Revoke,
    inbox Inbox,
    tick Tick,
    timer Timer,
    ledger Ledger,
    proof Proof,
    verify Verify,
    key Key,
    trust Trust,
    writes Writes,
    sats Sats,
    lag Lag,
    executors Executors,
    doctor Doctor,
    mcp Mcp,
    completions Completions,
    man Man,
}

impl Verb {
    /// Whether it does more than to print something.
    fn acts(&self) -> bool {
        match self {
            Verb::Key(args) => args.acts(),
            Verb::Trust(args) => args.acts(),
            Verb::Writes(args) => args.acts(),
            Verb::Sats(args) => args.acts(),
            Verb::Status(_)
            | Verb::List(_)
            | Verb::Inbox(_)
            | Verb::Show(_)
            | Verb::Ledger(_)
            | Verb::Proof(_)
            | Verb::Verify(_)
            | Verb::Lag(_)
            | Verb::Executors(_)
            | Verb::Doctor(_)
            | Verb::Completions(_)
            | Verb::Man(_) => false,
            _ => true,
        }
    }
}

/// A bitcoin wallet, whose seed your password opens for each signature.
///
/// `granted sats` is the same program. What lies on disk is the seed, sealed with your password, and what
/// the wallet saw on the chain. Passwords and words are asked for at the terminal and are taken from
/// nowhere else.
#[derive(Parser)]
#[command(name = "sats", version, max_term_width = 100)]
struct Sats {
    #[command(flatten)]
    form: Form,
    #[command(flatten)]
    args: sats::Args,
}

/// The command line's own description: every verb, flag and help text.
pub fn command() -> clap::Command {
    Cli::command()
}

/// The description of `sats`.
pub fn sats_command() -> clap::Command {
    Sats::command()
}

/// Runs the command line of these arguments; the exit code.
pub fn run(args: impl IntoIterator<Item = OsString>) -> u8 {
    let args: Vec<OsString> = args.into_iter().collect();
    let out = out_of("granted", &args);
    let parsed = quick(&args).map_or_else(|| Cli::try_parse_from(&args).map(|cli| cli.verb), Ok);
    ended(parsed, command, &args, &out)
}

/// As [`run`], of `sats`, which has the verbs of `granted sats`.
pub fn run_sats(args: impl IntoIterator<Item = OsString>) -> u8 {
    let args: Vec<OsString> = args.into_iter().collect();
    let out = out_of("sats", &args);
    let parsed = Sats::try_parse_from(&args).map(|sats| Verb::Sats(sats.args));
    ended(parsed, sats_command, &args, &out)
}

fn out_of(program: &'static str, args: &[OsString]) -> Out {
    survive_file_size_limits();
    // Known before the arguments are parsed, so that a bad one is told in the form asked for.
    Out::of(program, args.iter().any(|arg| arg == "--json"))
}

/// Runs what was parsed; the exit code.
fn ended(
    parsed: Result<Verb, clap::Error>,
    command: fn() -> clap::Command,
    args: &[OsString],
    out: &Out,
) -> u8 {
    let acts = parsed.as_ref().is_ok_and(Verb::acts);
    let ended = match parsed {
        Ok(verb) => run_verb(verb, out),
        Err(e) if e.kind() == ErrorKind::DisplayVersion => {
            // Parsing ends at --version, so what stands behind it is not known from there.
            Ok(version::show(args.iter().any(|arg| arg == "--verbose"), out))
        }
        Err(e) if usage::is_answer(&e) => {
            out.printed(e.print());
            Ok(u8::try_from(e.exit_code()).unwrap_or(2))
        }
        Err(e) => Err(usage::failure(&e, &command(), args)),
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

/// The verb, if it is named first and its arguments parse: to put all of them together, for help and
/// errors, takes longer than many a verb.
fn quick(args: &[OsString]) -> Option<Verb> {
    let verb = only(args.get(1)?.to_str()?)?;
    let command = Form::augment_args(clap::Command::new("granted")).subcommand(verb);
    let mut matches = command.try_get_matches_from(args).ok()?;
    Verb::from_arg_matches_mut(&mut matches).ok()
}

/// Has a write beyond the file-size limit fail instead of ending the process: a signal that has a
/// handler does not. Programs that are run get the default back.
fn survive_file_size_limits() {
    let flag = Arc::new(AtomicBool::new(false));
    // Refused only for signals that nobody may handle; this is none of them.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, flag);
}
