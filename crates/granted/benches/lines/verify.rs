//! `granted ledger verify` as a process.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use granted::Home;
use serde_json::{Value, json};

use crate::samples;

/// Verifies this book, beside `sha256sum` of its ledger; then once more, watching its memory.
pub fn run(program: &str, root: &Path, count: usize) -> Value {
    let home = Home::at(root);
    let verify = || {
        let mut command = Command::new(program);
        command.env("GRANTED_HOME", home.root()).args(["ledger", "verify"]).stdout(Stdio::null());
        command
    };
    let mut hash = Command::new("sha256sum");
    hash.arg(home.ledger()).stdout(Stdio::null());
    let mut samples = samples::in_turns(
        count,
        &mut [
            ("granted", Box::new(|_| assert!(verify().status().unwrap().success()))),
            ("base", Box::new(|_| assert!(hash.status().unwrap().success()))),
        ],
    );
    samples["bytes"] = json!(std::fs::metadata(home.ledger()).unwrap().len());
    samples["peak_kib"] = json!(peak(verify()));
    samples
}

/// The most memory that was resident, in KiB: the kernel's own mark, read until the process ends.
fn peak(mut command: Command) -> u64 {
    let mut child = command.spawn().unwrap();
    let path = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    while child.try_wait().unwrap().is_none() {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let mark = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let mark = mark.and_then(|mark| mark.split_whitespace().next());
        // Before its exec the process is a copy of this one.
        if text.starts_with("Name:\tgranted") {
            peak = mark.map_or(peak, |mark| mark.parse().unwrap());
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    peak
}
