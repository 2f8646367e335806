//! What executors write.

use super::{ends, exec, stdout};
use crate::home::{GRANTED, Home};

/// 256 MiB pass through: all is counted, the end is kept, and memory stays flat.
#[test]
fn much_output_passes_through_in_little_memory() {
    const BYTES: u64 = 256 << 20;
    let home = Home::new();
    home.mint("a", "");
    let command = format!("yes | head -c {BYTES}; grep VmHWM /proc/$PPID/status >&2");
    let args = ["discharge", "--type", "report", "--id", "a", "--exec", &command];
    let mut child = home.command(args);
    child.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::piped());
    let mut child = child.spawn().unwrap();
    let mut shown: u64 = 0;
    let mut end = Vec::new();
    let mut piece = vec![0; 1 << 20];
    let mut stderr = child.stderr.take().unwrap();
    loop {
        let read = std::io::Read::read(&mut stderr, &mut piece).unwrap();
        if read == 0 {
            break;
        }
        shown += piece[..read].iter().filter(|byte| **byte == b'y').count() as u64;
        end.extend_from_slice(&piece[..read]);
        let spare = end.len().saturating_sub(200);
        end.drain(..spare);
    }
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let row = &home.rows_of("decision.result")[0]["body"];
    assert_eq!(row["stdout"]["bytes"], BYTES);
    assert_eq!(row["stdout"]["tail"], "y\n".repeat(2_048));
    // What a slow reader missed is owned up to, unless not even that was taken in time.
    let rest = BYTES - shown * 2;
    let end = String::from_utf8(end).unwrap();
    if let Some((_, note)) = end.split_once("granted: ") {
        let missed: u64 = note.split(' ').next().unwrap().parse().unwrap();
        assert!(missed.abs_diff(rest) < 200, "{rest} not shown, {missed} told");
    }
    assert!(shown > 0);
    let peak = row["stderr"]["tail"].as_str().unwrap();
    let kib: u64 = peak.split_whitespace().nth(1).unwrap().parse().unwrap();
    // The program's own pages are among them, which are many in a build for debugging.
    assert!(kib < 48 << 10, "{peak}");
}

/// An executor that is silent is as good as another.
#[test]
fn no_output() {
    let home = Home::new();
    home.mint("a", "");
    let run = exec(&home, "a", "true");
    assert_eq!(run.stderr, "");
    ends(run, "discharged", "confirmed");
    let row = &home.rows_of("decision.result")[0]["body"];
    let nothing = serde_json::json!({"bytes": 0, "tail": ""});
    assert_eq!((&row["stdout"], &row["stderr"]), (&nothing, &nothing));
}

/// One that closes its streams is not taken for one that has ended.
#[test]
fn closed_streams() {
    let home = Home::new();
    home.mint("a", "");
    let command = format!("exec >&- 2>&-; {GRANTED} result --ok; exit 1");
    ends(exec(&home, "a", &command), "uncertain", "executor_uncertain");
}

/// Bytes that are no text pass through as they are and are kept as text.
#[test]
fn invalid_utf_8_and_controls() {
    let home = Home::new();
    home.mint("a", "");
    let command = r"printf 'a\377\376b\033[31m\0c'";
    let args = ["discharge", "--type", "report", "--id", "a", "--exec", command];
    let output = home.command(args).output().unwrap();
    assert_eq!(output.stderr, b"a\xff\xfeb\x1b[31m\0c");
    assert_eq!(stdout(&home), "a\u{fffd}\u{fffd}b\u{1b}[31m\0c");
    assert_eq!(home.rows_of("decision.result")[0]["body"]["stdout"]["bytes"], 11);
    home.verify();
}

/// The output of a failure is in the ledger, where it can be looked up days later.
#[test]
fn the_end_of_a_failure_is_kept() {
    let home = Home::new();
    home.mint("a", "");
    let command = "seq 100000; echo out of stamps >&2; exit 3";
    let report = ends(exec(&home, "a", command), "refused", "executor_failed");
    assert_eq!(report["detail"], "it exited with 3");
    assert_eq!(report["receipt"], serde_json::json!({"exit": 3}));
    let row = &home.rows_of("decision.result")[0]["body"];
    assert_eq!(row["stderr"]["tail"], "out of stamps\n");
    let tail = row["stdout"]["tail"].as_str().unwrap();
    assert_eq!((tail.len(), tail.ends_with("\n99999\n100000\n")), (4_096, true));
}
