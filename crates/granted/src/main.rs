//! The program `granted`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(granted::cli::run(std::env::args_os()))
}
