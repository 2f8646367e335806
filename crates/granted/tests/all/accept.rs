//! Accepting a rollback never revives a grant of which the index still tells.

use crate::home::Home;

#[test]
fn a_grant_whose_spending_was_cut_off_stays_closed() {
    let home = Home::new();
    home.mint("spent", "");
    home.mint("open", "");
    let document = home.document("spent");
    let unspent = std::fs::read(&document).unwrap();
    let before = std::fs::read(home.ledger()).unwrap();
    assert_eq!(home.discharge("spent", "true", &[])["outcome"], "discharged");
    // Enough rows for an index run that covers the discharge.
    let line = |i| format!("{{\"object\":{{\"type\":\"report\",\"id\":\"{i}\"}}}}\n");
    home.write("sheet.jsonl", (0..600).map(line).collect::<String>());
    home.say("mint --sheet sheet.jsonl --by me --for 1h").ok();
    assert!(home.root().join("index").read_dir().unwrap().next().is_some(), "no run was written");

    std::fs::write(home.ledger(), before).unwrap();
    std::fs::write(&document, unspent).unwrap();
    let cut = home.discharge("spent", "echo again >> effects", &[]);
    assert_eq!(cut["reason"], "ledger_rolled_back");

    let accepted = home.say("ledger accept --by me --reason test --json").ok().json();
    assert_eq!(accepted["closed"].as_array().unwrap().len(), 1, "{accepted}");
    let after = home.discharge("spent", "echo again >> effects", &[]);
    assert_eq!(after["reason"], "consumed", "{after}");
    assert!(!home.dir().join("effects").exists());
    assert_eq!(home.discharge("open", "true", &[])["outcome"], "discharged");
    home.verify();
}

#[test]
fn a_row_that_was_edited_goes_with_what_is_behind_it() {
    for (from, to) in
        [("\"minted_by\":\"me\"", "\"minted_bx\":\"me\""), ("by\":\"me\"", "by\":\"yo\"")]
    {
        let home = Home::new();
        for id in ["1", "2", "3", "4", "5"] {
            home.mint(id, "");
        }
        let text = std::fs::read_to_string(home.ledger()).unwrap();
        let lines = text.lines().enumerate();
        let edit = |(at, line): (usize, &str)| match at {
            2 => line.replace(from, to) + "\n",
            _ => line.to_owned() + "\n",
        };
        std::fs::write(home.ledger(), lines.map(edit).collect::<String>()).unwrap();
        let verified = home.say("ledger verify").exits(1);
        assert!(verified.stdout.contains("damaged: line 3 "), "{verified:?}");
        assert!(verified.stdout.contains("the last good row is 2"), "{verified:?}");
        assert!(verified.stderr.contains("granted ledger accept"), "{verified:?}");
        home.say("ledger accept --by me --reason test").ok();
        home.verify();
        assert_eq!(home.discharge("1", "true", &[])["outcome"], "discharged");
        assert_eq!(home.discharge("3", "true", &[])["outcome"], "refused");
        home.verify();
    }
}
