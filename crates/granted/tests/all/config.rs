//! A broken config stops what would run executors, before it does anything, and nothing else.

use crate::home::Home;

#[test]
fn a_broken_config_stops_what_runs_executors_and_names_its_line() {
    let home = Home::new();
    home.mint("x", "");
    let before = home.bytes();
    let config = home.root().join("config.toml");
    let broken: [(&[u8], &str); 16] = [
        (b"[executors.a\n", "line 1: "),
        (b"\n\nnonsense\n", "line 3: "),
        (b"colour = 1\n", "line 1: "),
        (b"[executors.a]\nargv = \"true\"\n", "line 2: "),
        (b"[executors.a]\n\nargv = []\n", "line 3: "),
        (b"[executors.a]\nargv = [\"\"]\n", "line 2: "),
        (b"[executors.a]\nargv = [\"a\\u0000b\"]\n", "line 2: "),
        (b"[executors.a]\nargv = [\"true\"]\nargs = [1]\n", "line 3: "),
        (b"[executors.a]\nargv = [\"true\"]\ntimeout = 5\n", "line 3: "),
        (b"[executors.a]\nargv = [\"true\"]\ntimeout = \"25h\"\n", "line 3: "),
        (b"[executors.a]\nargv = [\"true\"]\ntypes = [\"a b\"]\n", "line 3: "),
        (b"[executors.a]\nargv = [\"true\"]\n[executors.a]\nargv = [\"true\"]\n", "line 3: "),
        (b"[executors.exec]\nargv = [\"true\"]\n", "line 1: "),
        (b"[executors.\"a\\u202eb\"]\nargv = [\"true\"]\n", "line 1: "),
        (b"[executors.a]\nargv = [\"true\"\n", "line "),
        (b"\xff\xfe", "not UTF-8"),
    ];
    for (text, said) in broken {
        std::fs::write(&config, text).unwrap();
        assert_config_stops(&home, said);
    }
    std::fs::File::create(&config).unwrap().set_len(1 << 30).unwrap();
    assert_config_stops(&home, "has over 1048576 bytes");
    std::fs::remove_file(&config).unwrap();
    std::fs::create_dir(&config).unwrap();
    assert_config_stops(&home, "is a directory");
    std::fs::remove_dir(&config).unwrap();
    assert!(home.other("mkfifo").arg(&config).status().unwrap().success());
    assert_config_stops(&home, "is a FIFO");
    std::fs::remove_file(&config).unwrap();
    assert_eq!(home.bytes(), before);
    assert_eq!(home.count("ran"), 0);
    // A person who comes to take a grant back is not held up.
    std::fs::write(&config, "nonsense\n").unwrap();
    home.run(["discharge", "--type", "report", "--id", "x", "--exec", "true"]).ok();
    home.mint("y", "");
    home.say("revoke --type report --id y").ok();
}

#[track_caller]
fn assert_config_stops(home: &Home, said: &str) {
    for line in ["executors", "discharge --type report --id x --executor a", "mcp"] {
        let run = home.say(line).exits(1);
        assert_eq!(run.stderr.lines().count(), 1, "{run:?}");
        assert_eq!(run.stderr.matches("config.toml`").count(), 1, "{run:?}");
        assert!(run.stderr.contains(said), "{said}: {run:?}");
        assert!(!run.stderr.contains('\u{202e}'), "{run:?}");
    }
    for line in ["status --type report --id x", "list", "tick", "ledger", "ledger verify"] {
        home.say(line).ok();
    }
}
