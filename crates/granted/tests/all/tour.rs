//! The reference's thirty seconds.

use crate::home::Home;

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
