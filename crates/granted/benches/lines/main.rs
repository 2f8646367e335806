//! The work that `scripts/bench` times, without an interpreter in the way.
//!
//! `lines LINE …` does one line's work, both sides in turns, and prints the samples as one JSON object.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a program of its own, and what goes wrong is to end it"
)]

mod base;
mod book;
mod crowd;
mod cycle;
mod discharge;
mod filing;
mod process;
mod prove;
mod samples;
mod signed;
mod status;
mod verify;

use std::path::PathBuf;

const USAGE: &str = "\
lines discharge FOLDER PROGRAM COUNT  discharges of /bin/true in this process
lines process FOLDER PROGRAM COUNT    the process `granted discharge --exec true`
lines crowd FOLDER PROGRAM ROUNDS     64 threads beside one
lines book FOLDER GRANTS              makes a book of so many grants
lines status PROGRAM COUNT SMALL GRANTS LARGE GRANTS   `granted status` in two such books
lines verify PROGRAM HOME COUNT       `granted ledger verify` beside sha256sum
lines prove PROGRAM HOME ROWS COUNT   `granted ledger prove` and `granted proof` in a book of so many grants
lines signed FOLDER PROGRAM COUNT     discharges of signed grants beside others
lines filing TOKEN ADDRESS COUNT      requests for payments filed in this process, in GRANTED_HOME
lines cycle FIRST COUNT               mint and discharge in this process, in GRANTED_HOME
It is called by scripts/bench, which knows the budgets.";

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let number = |text: &str| text.parse::<usize>().unwrap();
    let path = |text: &str| PathBuf::from(text);
    let samples = match args[..] {
        ["discharge", folder, program, count] => {
            discharge::run(&path(folder), program, number(count))
        }
        ["process", folder, program, count] => process::run(&path(folder), program, number(count)),
        ["crowd", folder, program, rounds] => crowd::run(&path(folder), program, number(rounds)),
        ["book", folder, grants] => book::write(&path(folder), number(grants)),
        ["status", program, count, small, few, large, many] => {
            let books = [(path(small), number(few)), (path(large), number(many))];
            status::run(program, number(count), books)
        }
        ["verify", program, home, count] => verify::run(program, &path(home), number(count)),
        ["signed", folder, program, count] => signed::run(&path(folder), program, number(count)),
        ["prove", program, home, rows, count] => {
            prove::run(program, &path(home), number(rows), number(count))
        }
        ["filing", token, address, count] => filing::run(token, address, number(count)),
        ["cycle", first, count] => cycle::run(number(first), number(count)),
        // As `cargo bench` calls it.
        [] | ["--bench"] => return println!("{USAGE}"),
        _ => panic!("{USAGE}"),
    };
    println!("{samples}");
}
