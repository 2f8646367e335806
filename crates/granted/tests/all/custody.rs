//! Files that somebody else could have written: what each verb does then, and that what it says mends it.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
use std::path::{Path, PathBuf};

use crate::home::{GRANTED, Home, Run};

mod project;
mod signed;

/// What makes a path unfit, and what is said of it.
pub const UNFIT: [(&str, &str); 3] = [
    ("g+w", "may be written by its group (mode 0"),
    ("o+w", "may be written by everybody (mode 0"),
    ("owner", "belongs to another user (uid 12345)"),
];

/// Makes a path unfit; whether that could be done. Only root gives files away.
pub fn spoil(path: &Path, how: &str) -> bool {
    let mode = fs::metadata(path).unwrap().permissions().mode();
    let set = |mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    match how {
        "g+w" => set(mode | 0o020),
        "o+w" => set(mode | 0o002),
        _ if rustix::process::geteuid().is_root() => chown(path, Some(12_345), None).unwrap(),
        _ => return false,
    }
    true
}

/// Runs a command that granted gave as the one that mends.
#[track_caller]
pub fn mend(home: &Home, command: &str) {
    // Whoever can give files away needs no sudo, and may not have it.
    let command = command.strip_prefix("sudo ").unwrap_or(command);
    assert!(home.shell(command).status().unwrap().success(), "{command}");
}

/// The command in the line of advice.
#[track_caller]
fn hint(run: &Run) -> &str {
    let hint = run.stderr.lines().find_map(|line| line.strip_prefix("hint: "));
    hint.unwrap_or_else(|| panic!("{run:?}"))
}

/// A home with `report/x` minted and an executor `touch` registered.
fn furnished() -> Home {
    let home = Home::new();
    home.mint("x", "");
    home.write(".granted/config.toml", "[executors.touch]\nargv = [\"touch\", \"ran\"]\n");
    home
}

/// The home, then what is below it on the way to this path, then the path.
fn way(home: &Home, path: &Path) -> Vec<PathBuf> {
    let mut way: Vec<PathBuf> = path.ancestors().map(Path::to_owned).collect();
    way.retain(|path| path.starts_with(home.root()));
    way.reverse();
    way
}

#[test]
fn a_config_that_somebody_else_could_have_written_registers_nothing() {
    let home = furnished();
    for path in way(&home, &home.root().join("config.toml")) {
        for (how, said) in UNFIT {
            if !spoil(&path, how) {
                continue;
            }
            let mut command = String::new();
            for line in ["executors", "discharge --type report --id x --executor touch", "mcp"] {
                let run = home.say(line).exits(1);
                let first = format!("granted: `{}` {said}", path.display());
                assert!(run.stderr.starts_with(&first), "{run:?}");
                assert_eq!(run.stderr.lines().count(), 2, "{run:?}");
                command = hint(&run).to_owned();
                let json = home.say(&format!("{line} --json")).exits(1).stderr;
                assert!(json.starts_with("{\"error\":{\"kind\":\"config\","), "{json}");
            }
            mend(&home, &command);
            home.say("executors").ok();
        }
    }
    assert_eq!(home.count("ran"), 0);
    let grants = home.rows_of("decision.outcome");
    assert!(grants.is_empty(), "{grants:?}");
}

/// Links and FIFOs in its place are tried in `config`.
#[test]
fn a_config_is_not_read_through_a_link() {
    let home = furnished();
    let (config, kept) = (home.root().join("config.toml"), home.dir().join("kept"));
    fs::rename(&config, &kept).unwrap();
    symlink(&kept, &config).unwrap();
    let run = home.say("executors").exits(1);
    assert!(run.stderr.contains("config.toml` is a symbolic link"), "{run:?}");
    // The home itself may be reached through one.
    fs::rename(&kept, &config).unwrap();
    symlink(home.root(), home.dir().join("linked")).unwrap();
    let run = home.command(["executors"]).env("GRANTED_HOME", home.dir().join("linked")).output();
    Run::from(run.unwrap()).ok();
}

#[test]
fn by_a_ledger_that_somebody_else_could_have_written_nothing_is_decided() {
    for (how, said) in UNFIT {
        let home = furnished();
        let doubtful = home.discharge_in_doubt("x");
        for id in ["y", "z"] {
            home.mint(id, "");
        }
        if !spoil(&home.ledger(), how) {
            continue;
        }
        let before = home.rows().len();
        // What uses or widens authority is refused, and leaves a row where it is an attempt.
        let minted = home.say("mint --type report --id new --by me --for 1h").exits(1);
        assert!(minted.stderr.contains(said), "{minted:?}");
        let kind = home.say("mint --type report --id new --by me --for 1h --json").exits(1).stderr;
        assert!(kind.contains("\"kind\":\"ledger_unwritable\""), "{kind}");
        assert_eq!(home.rows().len(), before);
        assert!(
            !home
                .root()
                .join("grants/report")
                .read_dir()
                .unwrap()
                .any(|entry| { entry.unwrap().file_name().to_str().unwrap().starts_with("new") })
        );
        let refused = home.say("discharge --type report --id y --executor touch").exits(3);
        assert!(refused.stdout.starts_with("refused: ledger_unwritable (report/y) -- "));
        assert!(refused.stdout.contains(said), "{refused:?}");
        assert_eq!((home.rows().len(), home.count("ran")), (before + 1, 0));
        let accept = home.say("ledger accept --by me --reason none").exits(1);
        assert!(accept.stderr.contains(said), "{accept:?}");
        // What narrows is not.
        home.say("revoke --type report --id z").ok();
        home.say(&format!("resolve {doubtful} --did-not-happen --by me")).ok();
        home.say("tick").ok();
        // What only reads does, and says so.
        let grant = minted_grant(&home);
        for line in ["status --type report --id y", "list", "ledger", "ledger verify"] {
            assert_noted(home.say(line).ok(), said);
        }
        assert_noted(home.say(&format!("show {grant}")).ok(), said);
        mend(&home, hint(&minted));
        let run = home.say("discharge --type report --id y --executor touch").ok();
        assert_eq!(run.stderr, "");
        assert_eq!(home.say("ledger").ok().stderr, "");
        home.verify();
    }
}

fn minted_grant(home: &Home) -> String {
    home.rows_of("decision.minted")[0]["body"]["grant"]["id"].as_str().unwrap().to_owned()
}

#[track_caller]
fn assert_noted(run: Run, said: &str) {
    let mut lines = run.stderr.lines();
    let note = lines.next().unwrap_or_default();
    assert!(note.starts_with("note: `") && note.contains(said), "{run:?}");
    assert!(hint(&run).contains("ledger.jsonl"), "{run:?}");
}

#[test]
fn a_document_that_somebody_else_could_have_written_is_not_live() {
    let home = furnished();
    for path in way(&home, &home.document("x")).into_iter().skip(1) {
        for (how, said) in UNFIT {
            if !spoil(&path, how) {
                continue;
            }
            assert_eq!(home.status("x"), "unreadable", "{}", path.display());
            let refused = home.discharge("x", "touch ran", &[]);
            assert_eq!(refused["reason"], "unreadable", "{refused}");
            let detail = refused["detail"].as_str().unwrap();
            assert!(detail.contains(&format!("`{}` {said}", path.display())), "{detail}");
            if path.is_dir() {
                let run = home.say("mint --type report --id y --by me --for 1h --json").exits(1);
                assert!(run.stderr.contains("\"kind\":\"documents\""), "{run:?}");
                assert!(run.stderr.contains(said), "{run:?}");
            }
            let (_, command) = detail.rsplit_once("; to mend it: ").unwrap();
            mend(&home, command);
            assert_eq!(home.status("x"), "live");
        }
    }
    assert_eq!(home.count("ran"), 0);
    // A person who comes to take it back can.
    assert!(spoil(&home.root().join("grants"), "o+w"));
    home.say("revoke --type report --id x").ok();
    home.verify();
}

/// Nothing can be relied on in a home that others can write, and the first verb says why.
#[test]
fn a_home_that_was_made_by_hand_for_a_group_is_refused_in_a_clear_line() {
    let home = Home::new();
    let run = |line: &str| -> Run { home.shell(line).output().unwrap().into() };
    run("umask 002; mkdir .granted; printf '[executors.a]\nargv = [\"true\"]\n' >.granted/config.toml").ok();
    let root = home.root().display().to_string();
    let said = format!("granted: `{root}` may be written by its group (mode 0775)");
    let minted = home.say("mint --type report --id x --by me --for 1h").exits(1);
    assert_eq!(minted.stderr, format!("{said}; to mend it: chmod go-w {root}\n"));
    let first = home.say("executors").exits(1);
    assert_eq!(first.stderr, format!("{said}\nhint: chmod go-w {root}\n"));
    mend(&home, hint(&first));
    let second = home.say("executors").exits(1);
    assert!(second.stderr.contains("config.toml` may be written by its group (mode 0664)"));
    mend(&home, hint(&second));
    home.say("executors").ok();
    home.mint("x", "");
    home.say("discharge --type report --id x --executor a").ok();
    home.verify();
}

#[test]
fn no_link_to_a_folder_beside_the_ledger_is_followed() {
    let home = furnished();
    home.write(".granted/config.toml", "[notify]\ncommand = [\"true\"]\n");
    let away = home.dir().join("away");
    fs::create_dir(&away).unwrap();
    for name in ["index", "acts", "notices"] {
        let link = home.root().join(name);
        // An earlier verb may have made the folder.
        let _ = fs::remove_dir_all(&link);
        symlink(&away, &link).unwrap();
    }
    home.mint_sheet(0..600);
    let refused = home.discharge("x", "touch ran", &[]);
    assert_eq!(refused["reason"], "ledger_unwritable", "{refused}");
    assert!(refused["detail"].as_str().unwrap().contains("acts` is a symbolic link"), "{refused}");
    fs::remove_file(home.root().join("acts")).unwrap();
    // To be told; and behind as many rows as are indexed otherwise.
    home.discharge_in_doubt("x");
    assert_eq!(home.status("x"), "consumed");
    assert_eq!(fs::read_dir(&away).unwrap().count(), 0);
    assert_eq!(home.count("ran"), 0);
    home.verify();
}

#[test]
fn in_an_index_that_others_can_write_nothing_is_written() {
    let home = furnished();
    let index = home.root().join("index");
    fs::create_dir(&index).unwrap();
    spoil(&index, "g+w");
    home.mint_sheet(0..600);
    assert_eq!(fs::read_dir(&index).unwrap().count(), 0);
    mend(&home, &format!("chmod go-w {}", index.display()));
    home.mint("y", "");
    assert_eq!(fs::read_dir(&index).unwrap().count(), 1);
    home.verify();
}

#[test]
fn no_notice_is_given_by_files_that_others_can_write() {
    let home = furnished();
    let config = "[notify]\ncommand = [\"sh\", \"-c\", \"echo $1 >> $HOME/told\", \"-\"]\n";
    home.write(".granted/config.toml", config);
    home.discharge_in_doubt("x");
    assert_eq!(home.count("told"), 1);
    spoil(&home.root().join("notices"), "o+w");
    home.mint("y", "");
    let exec = format!("{GRANTED} result --ok; exit 75");
    let args = ["discharge", "--type", "report", "--id", "y", "--exec", &exec];
    let run = home.run(args).exits(4);
    assert!(run.stderr.contains("notices` may be written by everybody"), "{run:?}");
    assert_eq!(home.count("told"), 1);
}

/// Custody of what lies deeper in the home begins at the home all the same.
#[test]
fn a_ledger_deeper_in_the_home_is_held_to_the_whole_way() {
    let home = furnished();
    let run = |line: &str| -> Run {
        let mut command = home.command(line.split(' '));
        command.env("GRANTED_LEDGER", home.root().join("books/ledger.jsonl"));
        command.env("GRANTED_STORE", home.dir().join("elsewhere")).output().unwrap().into()
    };
    run("mint --type report --id y --by me --for 1h").ok();
    spoil(&home.root(), "g+w");
    let refused = run("mint --type report --id z --by me --for 1h").exits(1);
    let said = format!("granted: `{}` may be written by its group", home.root().display());
    assert!(refused.stderr.starts_with(&said), "{refused:?}");
    mend(&home, hint(&refused));
    run("discharge --type report --id y --exec true").ok();
}

#[test]
fn an_act_needs_a_folder_for_its_lock_that_nobody_else_can_write() {
    let home = furnished();
    let acts = home.root().join("acts");
    assert_eq!(home.discharge("x", "exit 75", &[])["reason"], "executor_declined");
    for (how, said) in UNFIT {
        if spoil(&acts, how) {
            let refused = home.discharge("x", "touch ran", &[]);
            assert_eq!(refused["reason"], "ledger_unwritable", "{refused}");
            let detail = refused["detail"].as_str().unwrap();
            assert!(detail.contains(&format!("acts` {said}")), "{detail}");
            mend(&home, detail.rsplit_once("; to mend it: ").unwrap().1);
        }
    }
    assert_eq!(home.count("ran"), 0);
    assert_eq!(home.discharge("x", "true", &[])["reason"], "confirmed");
}
