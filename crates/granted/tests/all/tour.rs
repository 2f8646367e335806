//! The reference's thirty seconds.

use std::path::Path;

use crate::docs::blocks::is_shown;
use crate::home::{GRANTED, Home, Run};
use crate::keys::{PASSWORD, at_terminal, new_key};

#[test]
fn mint_status_discharge_and_again() {
    let home = Home::new();
    home.write("send_report.sh", "#!/bin/sh\necho sent >> sent.log\n");
    let minted = home.run([
        "mint",
        "--type",
        "report",
        "--id",
        "2026-09-30",
        "--by",
        "owner keystroke",
        "--for",
        "24h",
        "--allow",
        "send",
    ]);
    let path = minted.ok().stdout;
    assert!(std::path::Path::new(path.trim()).is_file(), "{path}");
    let status = home.say("status --type report --id 2026-09-30").ok();
    assert!(status.stdout.starts_with("live report/2026-09-30: until "), "{status:?}");
    let discharge = [
        "discharge",
        "--type",
        "report",
        "--id",
        "2026-09-30",
        "--action",
        "send",
        "--exec",
        "sh ./send_report.sh",
    ];
    let first = home.run(discharge).ok();
    assert_eq!(first.stdout, "discharged: confirmed (report/2026-09-30) -- result row line 4\n");
    let again = home.run(discharge).exits(3);
    assert!(again.stdout.starts_with("refused: consumed (report/2026-09-30) -- "), "{again:?}");
    assert_eq!(std::fs::read_to_string(home.dir().join("sent.log")).unwrap(), "sent\n");
    let kinds: Vec<_> = home.rows().iter().map(|row| row["kind"].clone()).collect();
    assert_eq!(
        kinds,
        [
            "ledger.opened",
            "decision.minted",
            "decision.intent",
            "decision.result",
            "decision.outcome",
            "decision.outcome",
        ]
    );
    home.verify();
    let document = std::fs::read_to_string(path.trim()).unwrap();
    assert!(document.contains("\"consumed\": true"), "{document}");
}

/// The third part of the README: what the file alone shows, in a root that holds it and the program only.
#[test]
fn a_proof_is_verified_in_an_empty_root() {
    let home = Home::new();
    new_key(&home, "me");
    home.say("trust mode signed").ok();
    let mint = "mint --type report --id 2026-10-07 --by me --for 24h --allow send";
    at_terminal(&home, mint, &[("[y/N] ", "y"), ("password of", PASSWORD)]).ok();
    home.discharge("2026-10-07", "true", &["--action", "send"]);
    home.say("proof --type report --id 2026-10-07 --out report.proof").ok();
    home.write("me.pub", home.say("key export me").ok().stdout);

    // This build of the program is linked dynamically: its libraries come along.
    let root = home.dir().join("empty");
    let copy = |from: &Path, to: &str| {
        let to = root.join(to.trim_start_matches('/'));
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        std::fs::copy(from, to).unwrap();
    };
    let linked: Run = home.other("ldd").arg(GRANTED).output().unwrap().into();
    for library in linked.stdout.split_whitespace().filter(|word| word.starts_with('/')) {
        copy(Path::new(library), library);
    }
    copy(Path::new(GRANTED), "granted");
    for file in ["report.proof", "me.pub"] {
        copy(&home.dir().join(file), file);
    }
    let mut unshare = home.other("unshare");
    unshare.args(["--user", "--map-root-user", "--net", "chroot"]).arg(&root).env_clear();
    unshare.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
    unshare.args(["/granted", "verify", "/report.proof", "--key", "/me.pub"]);
    let verified = Run::from(unshare.output().unwrap()).ok();
    let readme = include_str!("../../../../README.md");
    let (_, shown) = readme.split_once("```text\nvalid, ").unwrap();
    let (shown, _) = shown.split_once("\n```").unwrap();
    for shown in format!("valid, {shown}").lines() {
        let found = verified.stdout.lines().any(|line| is_shown(line, shown));
        assert!(found, "{shown}\n{}", verified.stdout);
    }
}
