//! Pipes that nobody reads and streams that are closed change no verb.

use std::process::Stdio;

use crate::home::{Home, Run};

#[test]
fn a_broken_pipe_ends_quietly_with_the_own_code() {
    let home = Home::new();
    home.mint_sheet(0..700);
    for (line, code) in [
        ("ledger --json --tail 100000", 0),
        ("ledger --tail 100000", 0),
        ("list", 0),
        ("list --json", 0),
    ] {
        let script = format!("{{ granted {line} 2>said; echo $? > code; }} | head -n 1");
        let run: Run = home.shell(&script).output().unwrap().into();
        assert_eq!(run.stdout.lines().count(), 1, "{line}");
        assert_eq!(
            std::fs::read_to_string(home.dir().join("code")).unwrap().trim(),
            code.to_string()
        );
        assert_eq!(std::fs::read_to_string(home.dir().join("said")).unwrap(), "", "{line}");
    }
    // Nobody reads from the beginning.
    for (line, code) in [
        ("status --type report --id 1", 0),
        ("status --type report --id none", 3),
        ("discharge --type report --id 1 --exec 'echo hello; echo ran >> ran'", 0),
        ("discharge --type report --id 1 --exec true", 3),
        ("discharge --type report --id 2 --exec 'exit 1'", 3),
        ("mint --type report --id more --by me --for 1h", 0),
        ("mint --type report --id more --by me --for 1h", 1),
        ("status --type", 2),
        ("ledger verify", 0),
        ("--help", 0),
    ] {
        let script = format!("{{ sleep 0.05; granted {line} 2>&1; echo $? > code; }} | true");
        assert!(home.shell(&script).stdin(Stdio::null()).status().unwrap().success());
        assert_eq!(
            std::fs::read_to_string(home.dir().join("code")).unwrap().trim(),
            code.to_string(),
            "{line}"
        );
    }
    assert_eq!(home.count("ran"), 1);
    home.verify();
}

#[test]
fn closed_streams_change_no_verb() {
    let home = Home::new();
    let mut uses = 0;
    for streams in [
        ">&-",
        "2>&-",
        "<&-",
        ">&- 2>&-",
        "<&- >&- 2>&-",
        ">/dev/full",
        ">/dev/full 2>&1",
        "2>/dev/full",
    ] {
        uses += 1;
        let id = format!("x{uses}");
        for (line, code) in [
            (format!("mint --type report --id {id} --by me --for 1h"), 0),
            (format!("status --type report --id {id}"), 0),
            (
                format!(
                    "discharge --type report --id {id} --exec 'cat; echo out; echo err >&2; echo ran >> ran'"
                ),
                0,
            ),
            (format!("discharge --type report --id {id} --exec true --json"), 3),
            (format!("status --type report --id {id} --json"), 3),
            ("status --type".into(), 2),
            ("show 1".into(), 2),
            ("show 01K6BXZ0000000000000000000".into(), 1),
            ("ledger verify".into(), 0),
            ("ledger".into(), 0),
            ("tick".into(), 0),
            ("--help".into(), 0),
        ] {
            let status = home
                .shell(&format!("granted {line} {streams}"))
                .stdout(Stdio::null())
                .status()
                .unwrap();
            // What was to be printed and could not be is no success.
            let prints = ["status --type report", "ledger", "--help"];
            let lost = streams.contains(">/dev/full") && !streams.starts_with('2');
            let prints = prints.iter().any(|verb| line.starts_with(verb));
            let code = if lost && prints { 1 } else { code };
            assert_eq!(status.code(), Some(code), "{line} {streams}");
        }
    }
    assert_eq!(home.count("ran"), uses);
    let results = home.rows_of("decision.result");
    assert!(results.iter().all(|row| row["body"]["stdout"]["tail"] == "out\n"), "{results:?}");
    home.verify();
}
