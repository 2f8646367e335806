//! The program `sats`: the same as `granted sats`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(granted::cli::run_sats(std::env::args_os()))
}
