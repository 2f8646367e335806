//! `granted completions`

use clap_complete::Shell;

use super::failure::Failure;
use super::out::Out;

/// Print a script that completes verbs and flags in a shell.
///
/// Each shell looks for it in a folder of its own: see the examples.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// Which shell.
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

const AFTER_HELP: &str = "\
Examples:
  granted completions bash > ~/.local/share/bash-completion/completions/granted
  granted completions zsh > ~/.zfunc/_granted     (a folder of $fpath)
  granted completions fish > ~/.config/fish/completions/granted.fish";

pub(crate) fn run(args: Args, out: &Out) -> Result<u8, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut super::command(), "granted", &mut script);
    out.line(String::from_utf8_lossy(&script).trim_end());
    Ok(0)
}
