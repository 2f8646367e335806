//! Measures `granted ledger verify` on a generated ledger.
//!
//! `cargo run --release -p granted --example verify_rate -- FILE [ROWS]` makes the ledger if the
//! file is not there, then verifies it and prints the rate and the memory that it took. Compare
//! with `time sha256sum FILE`.
#![allow(clippy::disallowed_methods, clippy::print_stdout, reason = "a program of its own")]

use std::error::Error;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::ops::ControlFlow;
use std::time::Instant;

use granted::ledger::verify::verify_lines;
use granted_core::ledger::Line;
use granted_core::store::{RawLine, ReadError, Unfinished};
use granted_testkit::story;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("usage: verify_rate FILE [ROWS]")?;
    let rows = arguments.next().map_or(Ok(300_000), |rows| rows.parse())?;
    if !std::fs::exists(&path)? {
        make(&path, rows)?;
    }
    let begin = Instant::now();
    let report = verify_lines(&|from, visit| scan(&path, from, visit), &mut |_| {})?;
    let seconds = begin.elapsed().as_secs_f64();
    let megabytes = report.bytes as f64 / 1e6;
    println!("rows {} bytes {} fault {:?}", report.rows, report.bytes, report.fault);
    println!("{seconds:.3} s, {:.0} MB/s", megabytes / seconds);
    println!("{:.2} us a row", seconds * 1e6 / report.rows as f64);
    for line in std::fs::read_to_string("/proc/self/status")?.lines() {
        if line.starts_with("VmHWM") {
            println!("{line}");
        }
    }
    Ok(())
}

fn make(path: &str, rows: u64) -> Result<(), std::io::Error> {
    let mut file = BufWriter::new(File::create(path)?);
    let mut failed = Ok(());
    story::busy(rows, |line: &Line| {
        let written = file.write_all(&line.bytes).and_then(|()| file.write_all(b"\n"));
        if failed.is_ok() {
            failed = written;
        }
    });
    failed?;
    file.flush()
}

fn scan(
    path: &str,
    from: u64,
    visit: &mut dyn FnMut(RawLine<'_>) -> ControlFlow<()>,
) -> Result<Option<Unfinished>, ReadError> {
    let unreadable = |e: std::io::Error| ReadError::Unreadable(format!("{path}: {e}"));
    let mut file = BufReader::with_capacity(256 * 1024, File::open(path).map_err(unreadable)?);
    let (mut line, mut offset) = (Vec::new(), 0);
    for seq in 1.. {
        line.clear();
        let length = file.read_until(b'\n', &mut line).map_err(unreadable)? as u64;
        let Some(bytes) = line.strip_suffix(b"\n") else {
            return Ok((length > 0).then_some(Unfinished { offset, bytes: length }));
        };
        if seq >= from && visit(RawLine { seq, offset, bytes }).is_break() {
            break;
        }
        offset += length;
    }
    Ok(None)
}
