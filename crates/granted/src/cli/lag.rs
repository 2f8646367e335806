//! `granted lag`

use std::io::{self, BufRead, BufReader};
use std::path::PathBuf;

use granted_core::lag::Lag;

use super::failure::Failure;
use super::out::Out;

/// Measure how long agents wait for your keystrokes.
///
/// Reads lines of {"raised": TIME, "answered": TIME} and prints n=… open=… bad=… p50=… p80=… max=…
/// If p50 is minutes, approve afterwards; if it is days, mint.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The file; `-` for stdin.
    #[arg(value_name = "FILE", default_value = "-", hide_default_value = true)]
    file: PathBuf,
}

const AFTER_HELP: &str = "\
Example:
  granted lag asks.jsonl
      where a line is {\"raised\":\"2026-09-01T08:00:00Z\",\"answered\":\"2026-09-01T18:00:00Z\"},
      or \"answered\":null while it waits";

pub(crate) fn run(args: Args, out: &Out) -> Result<u8, Failure> {
    let error = |e: io::Error| Failure::at(&args.file, &e);
    let mut reader: Box<dyn BufRead> = match args.file.as_os_str() == "-" {
        true => Box::new(io::stdin().lock()),
        false => {
            #[expect(
                clippy::disallowed_methods,
                reason = "any file will do, also a pipe or a link"
            )]
            let file = std::fs::File::open(&args.file).map_err(error)?;
            Box::new(BufReader::new(file))
        }
    };
    let mut lag = Lag::default();
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line).map_err(error)? > 0 {
        lag.line(&String::from_utf8_lossy(&line));
        line.clear();
    }
    let summary = lag.summary();
    match out.is_json() {
        true => out.value(&summary),
        false => out.line(summary),
    }
    Ok(0)
}
