//! Grant documents that somebody changed, moved, put back or replaced: they only ever narrow.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::{Value, json};

use crate::home::Home;

/// Discharges `report/ID` by a command that leaves a line in `ran`; the report.
fn try_it(home: &Home, id: &str) -> Value {
    home.discharge(id, "echo ran >> ran", &["--action", "send", "--agent", "claude"])
}

/// What the document comes to: the object's status, and the same word from an attempt.
#[track_caller]
fn assert_is(home: &Home, id: &str, status: &str, what: &str) {
    assert_eq!(home.status(id), status, "{what}");
    let before = home.count("ran");
    let report = try_it(home, id);
    assert_eq!(
        (&report["outcome"], &report["reason"]),
        (&json!("refused"), &json!(status)),
        "{what}: {report}"
    );
    assert_eq!(home.count("ran"), before, "{what}");
}

fn mint_whole(home: &Home) {
    home.write("bound", "x");
    let more = [
        "mint",
        "--type",
        "report",
        "--id",
        "x",
        "--by",
        "me",
        "--for",
        "8760h",
        "--allow",
        "send",
        "--scope",
        "one",
        "--not-scope",
        "two",
        "--executor",
        "exec",
        "--agent",
        "claude",
        "--not-before",
        "2026-01-01T00:00:00Z",
        "--bind",
        "bound",
    ];
    home.run(more).ok();
}

#[test]
fn every_field_can_only_narrow() {
    let home = Home::new();
    mint_whole(&home);
    let path = home.document("x");
    let original = fs::read_to_string(&path).unwrap();
    let document: Value = serde_json::from_str(&original).unwrap();
    let wider = json!({
        "agent": "mallory", "allowed_actions": [], "binds": [], "book": "01K6BXZ0000000000000000000",
        "consumed": true, "consumed_at": "2026-01-01T00:00:00Z", "decision": "APPROVE_SESSION",
        "executor": "other", "id": "01K6BXZ0000000000000000000", "kind": "granted/2",
        "minted_at": "2026-01-01T00:00:00Z", "minted_by": "you", "not_after": "2999-01-01T00:00:00Z",
        "not_before": "1999-01-01T00:00:00Z", "not_scope": [],
        "object": {"type": "report", "id": "y"}, "receipt": {}, "scope": "",
    });
    let fields: Vec<&String> = document.as_object().unwrap().keys().collect();
    assert_eq!(fields, wider.as_object().unwrap().keys().collect::<Vec<_>>());
    for field in fields {
        let put = |value: Option<Value>| {
            let mut changed = document.clone();
            match value {
                Some(value) => changed[field] = value,
                None => drop(changed.as_object_mut().unwrap().remove(field)),
            }
            fs::write(&path, changed.to_string()).unwrap();
        };
        put(Some(wider[field].clone()));
        let told = if field == "consumed" { "consumed" } else { "unreadable" };
        assert_is(&home, "x", told, field);
        for wrong in [json!(7.5), json!("\u{0}"), json!([[]])] {
            put(Some(wrong.clone()));
            assert_is(&home, "x", "unreadable", &format!("{field}: {wrong}"));
        }
        put(None);
        // These two are null until the grant is spent: without them it says the same.
        if field == "consumed_at" || field == "receipt" {
            assert_eq!(home.status("x"), "live", "without {field}");
        } else {
            assert_is(&home, "x", "unreadable", &format!("without {field}"));
        }
    }
    fs::write(&path, &original).unwrap();
    assert_eq!(try_it(&home, "x")["outcome"], "discharged");
    assert_eq!(home.count("ran"), 1);
    home.verify();
}

#[test]
fn a_document_of_another_form_is_unreadable() {
    let home = Home::new();
    mint_whole(&home);
    let path = home.document("x");
    let original = fs::read_to_string(&path).unwrap();
    let twice = |line: &str| original.replacen("{\n", &format!("{{\n{line},\n"), 1);
    let forms: Vec<Vec<u8>> = vec![
        vec![],
        b"\n".to_vec(),
        b"{}".to_vec(),
        b"null".to_vec(),
        (0..=255).collect(),
        vec![0; 4096],
        vec![b'['; 65_000],
        twice("\"consumed\": false").into(),
        twice("\"not_after\": \"2999-01-01T00:00:00Z\"").into(),
        twice("\"extra\": 1").into(),
        original.replace("\"id\":\"x\"", "\"id\":\"x\",\"id\":\"x\"").into(),
        original.replace("\"id\":\"x\"", "\"id\":\"x\",\"more\":1").into(),
        format!("{original}{original}").into(),
        format!("\u{feff}{original}").into(),
        original.trim_end().trim_end_matches('}').into(),
        (original.clone() + &" ".repeat(65_536)).into(),
    ];
    for (number, bytes) in forms.iter().enumerate() {
        assert_ne!(bytes, original.as_bytes());
        fs::write(&path, bytes).unwrap();
        let shown = String::from_utf8_lossy(bytes).chars().take(80).collect::<String>();
        assert_is(&home, "x", "unreadable", &format!("{number}: {shown}"));
    }
    // Its content counts, not its layout.
    let value: Value = serde_json::from_str(&original).unwrap();
    fs::write(&path, value.to_string()).unwrap();
    assert_eq!(home.status("x"), "live");
    home.verify();
}

#[test]
fn what_is_no_plain_file_is_unreadable_at_once() {
    let home = Home::new();
    mint_whole(&home);
    let path = home.document("x");
    let kept = home.dir().join("kept.json");
    fs::rename(&path, &kept).unwrap();
    assert_is(&home, "x", "none", "deleted");

    symlink(&kept, &path).unwrap();
    assert_is(&home, "x", "unreadable", "a link");
    fs::remove_file(&path).unwrap();

    symlink("/dev/zero", &path).unwrap();
    assert_is(&home, "x", "unreadable", "a link to a device");
    fs::remove_file(&path).unwrap();

    assert!(home.other("mkfifo").arg(&path).status().unwrap().success());
    assert_is(&home, "x", "unreadable", "a FIFO");
    fs::remove_file(&path).unwrap();

    fs::create_dir(&path).unwrap();
    assert_is(&home, "x", "unreadable", "a directory");
    fs::remove_dir(&path).unwrap();

    fs::File::create(&path).unwrap().set_len(1 << 30).unwrap();
    assert_is(&home, "x", "unreadable", "1 GiB");
    fs::remove_file(&path).unwrap();

    // A second name narrows nothing; but the other one is left as it is.
    fs::hard_link(&kept, &path).unwrap();
    let before = fs::read(&kept).unwrap();
    assert_eq!(home.status("x"), "live");
    assert_eq!(try_it(&home, "x")["outcome"], "discharged");
    assert_eq!(fs::read(&kept).unwrap(), before);
    assert_is(&home, "x", "consumed", "spent, through a second name");
    home.verify();
}

#[test]
fn an_old_copy_revives_an_unspent_grant_and_never_a_spent_one() {
    let home = Home::new();
    mint_whole(&home);
    let path = home.document("x");
    let original = fs::read_to_string(&path).unwrap();
    fs::remove_file(&path).unwrap();
    assert_is(&home, "x", "none", "deleted");
    fs::write(&path, original.replace("\"consumed\": false", "\"consumed\": true")).unwrap();
    assert_is(&home, "x", "consumed", "by hand");
    fs::write(&path, &original).unwrap();
    assert_eq!(home.status("x"), "live");
    assert_eq!(try_it(&home, "x")["outcome"], "discharged");

    let spent = fs::read_to_string(&path).unwrap();
    assert!(spent.contains("\"consumed\": true"), "{spent}");
    fs::write(&path, &original).unwrap();
    assert_is(&home, "x", "consumed", "an old copy");
    fs::write(&path, spent.replace("\"consumed\": true", "\"consumed\": false")).unwrap();
    assert_is(&home, "x", "consumed", "unspent by hand");
    fs::remove_file(&path).unwrap();
    assert_is(&home, "x", "consumed", "deleted when spent");
    assert!(!path.exists(), "a deleted document stays deleted");
    assert_eq!(home.count("ran"), 1);
    home.verify();
}

#[test]
fn a_document_that_goes_or_changes_during_the_act_makes_it_uncertain() {
    for during in [
        r#"rm "$GRANTED_GRANT_PATH""#,
        r#"mv "$GRANTED_GRANT_PATH" kept"#,
        r#"sed -i 's/APPROVE_ONCE/APPROVE_SESSION/' "$GRANTED_GRANT_PATH""#,
        r#"sed -i 's/"consumed": false/"consumed": true/' "$GRANTED_GRANT_PATH""#,
        r#": > "$GRANTED_GRANT_PATH""#,
        r#"p="$GRANTED_GRANT_PATH"; mv "$p" kept && ln -s "$PWD/kept" "$p""#,
        r#"d="$(dirname "$GRANTED_GRANT_PATH")"; mv "$d" "$d.away""#,
    ] {
        let home = Home::new();
        home.mint("x", "");
        let path = home.document("x");
        let original = fs::read(&path).unwrap();
        let report = home.discharge("x", during, &[]);
        assert_eq!(report["outcome"], "uncertain", "{during}: {report}");
        assert_eq!(report["reason"], "receipt_mismatch", "{during}: {report}");
        let _ = fs::remove_file(&path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, &original).unwrap();
        assert_is(&home, "x", "consumed", during);
        assert_eq!(home.rows_of("decision.result").len(), 1);
        home.verify();
    }
}

#[test]
fn a_ledger_cut_behind_a_use_leaves_the_grant_spent_by_its_document() {
    let home = Home::new();
    home.mint("x", "");
    let minted = home.bytes().len();
    assert_eq!(home.discharge("x", "echo ran >> ran", &[])["outcome"], "discharged");
    let file = fs::OpenOptions::new().write(true).open(home.ledger()).unwrap();
    file.set_len(minted as u64).unwrap();
    home.verify();
    assert_is(&home, "x", "consumed", "cut");
    assert_eq!(home.count("ran"), 1);
}

#[test]
fn two_grants_for_one_object_are_two_uses_and_no_more() {
    let home = Home::new();
    let later = home.mint("x", "--scope later");
    home.say("mint --type report --id x --by me --for 1h").exits(1);
    let args = "mint --type report --id x --by me --for 30m --json --again";
    let sooner = home.say(args).ok().json()["grant"]["id"].as_str().unwrap().to_owned();
    let shown =
        |home: &Home| home.say("status --type report --id x --json").json()["grant"]["id"].clone();
    assert_eq!(shown(&home), json!(sooner));
    // Without its document the soonest is paused, and the other one speaks.
    let folder = home.root().join("grants/report");
    let path = folder.join(format!("x~{sooner}.json"));
    let kept = home.dir().join("kept");
    fs::rename(&path, &kept).unwrap();
    assert_eq!(shown(&home), json!(later));
    // The document of one is none of the other's.
    fs::copy(folder.join(format!("x~{later}.json")), &path).unwrap();
    assert_eq!(shown(&home), json!(later));
    fs::rename(&kept, &path).unwrap();
    for id in [&sooner, &later] {
        assert_eq!(home.discharge("x", "echo ran >> ran", &[])["grant_id"], json!(id));
    }
    assert_is(&home, "x", "consumed", "both");
    assert_eq!(home.count("ran"), 2);
    home.verify();
}

#[test]
fn folders_that_are_moved_linked_or_files() {
    let home = Home::new();
    home.mint("x", "");
    let grants = home.root().join("grants");
    let away = home.dir().join("away");
    let mint = "mint --type report --id y --by me --for 1h";

    // A folder of documents below it is not reached through a link.
    fs::rename(grants.join("report"), &away).unwrap();
    symlink(&away, grants.join("report")).unwrap();
    assert_is(&home, "x", "unreadable", "a link to the type's folder");
    home.say(mint).exits(1);
    assert_eq!(fs::read_dir(&away).unwrap().count(), 1);
    fs::remove_file(grants.join("report")).unwrap();
    fs::rename(&away, grants.join("report")).unwrap();

    fs::rename(&grants, &away).unwrap();
    assert_is(&home, "x", "none", "no folder");
    fs::write(&grants, "not a folder").unwrap();
    assert_is(&home, "x", "unreadable", "a file");
    home.say(mint).exits(1);
    home.say("tick");
    fs::remove_file(&grants).unwrap();
    symlink("nowhere", &grants).unwrap();
    assert_is(&home, "x", "unreadable", "a link to nothing");
    home.say(mint).exits(1);
    fs::remove_file(&grants).unwrap();
    symlink(&away, &grants).unwrap();
    assert_is(&home, "x", "unreadable", "a link to the folder");
    home.say(mint).exits(1);
    assert_eq!(fs::read_dir(away.join("report")).unwrap().count(), 1);

    // The folder itself may be somewhere else, if that is said.
    let elsewhere = |path: &Path| {
        home.command(["status", "--type", "report", "--id", "x"])
            .env("GRANTED_STORE", path)
            .status()
    };
    assert_eq!(elsewhere(&away).unwrap().code(), Some(0));
    assert_eq!(elsewhere(&home.dir().join("empty")).unwrap().code(), Some(3));
    fs::remove_file(&grants).unwrap();
    fs::rename(&away, &grants).unwrap();
    assert_eq!(home.discharge("x", "echo ran >> ran", &[])["outcome"], "discharged");
    assert_eq!(home.rows_of("decision.minted").len(), 1);
    home.verify();
}
