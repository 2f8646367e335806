//! The tables of the manual that are not about one verb. They stand in docs/cli.md too.

/// What is described, and its description; backticks mark what is typed.
pub(super) type Row = (&'static str, &'static str);

pub(super) const EXIT_CODES: &[Row] = &[
    ("0", "done; `discharge`: discharged; `status`: live"),
    ("1", "an error that is no outcome"),
    ("2", "the command line is wrong; nothing was done"),
    ("3", "`discharge`: refused; `status`: neither live nor expired"),
    ("4", "`discharge`: uncertain"),
    ("5", "`discharge`, `status`: expired"),
];

pub(super) const ENVIRONMENT: &[Row] = &[
    ("`GRANTED_HOME`", "everything; default `~/.granted`"),
    ("`GRANTED_LEDGER`", "the ledger, and with it what lies beside it"),
    ("`GRANTED_STORE`", "the folder of the grants' documents"),
    (
        "`XDG_CONFIG_HOME`",
        "the units of `granted timer`, in `systemd/user` there, and the config of Goose; default `~/.config`",
    ),
    ("`NO_COLOR`", "set: no colour, also on a terminal"),
    ("`LOGNAME`, `USER`", "your login name, where `--by` is left out"),
];

pub(super) const PASSED_ON: &[Row] = &[
    ("`GRANTED_OBJECT_TYPE`, `GRANTED_OBJECT_ID`", "the object"),
    ("`GRANTED_ACTION`", "the action, if the attempt named one"),
    ("`GRANTED_DISCHARGE_ID`", "the attempt"),
    ("`GRANTED_GRANT_PATH`", "the grant's document"),
    ("`GRANTED_NOT_AFTER`", "the window's end"),
    ("`GRANTED_HOME`, `GRANTED_STORE`, `GRANTED_LEDGER`", "where everything lies"),
    ("`GRANTED_RESULT_TOKEN`", "the right to write this act's result; a secret of the executor"),
    ("`GRANTED_EXECUTOR_PATH`", "where its program lies, if it runs from a sealed copy"),
];

pub(super) const NOTIFIER: &[Row] = &[
    (
        "`GRANTED_NOTICE_EVENT`",
        "`due`, `expired`, `uncertain`, `refused`, or `more`: one that counts others",
    ),
    ("`GRANTED_NOTICE_REASON`", "the reason of the attempt, if it was one"),
    ("`GRANTED_NOTICE_OBJECT_TYPE`, `GRANTED_NOTICE_OBJECT_ID`", "the object; not of `more`"),
    ("`GRANTED_NOTICE_GRANT_ID`", "the grant, if there is one"),
    ("`GRANTED_NOTICE_DISCHARGE_ID`", "the attempt, if it was one"),
    ("`GRANTED_NOTICE_TEXT`", "one line for people, which is also the last argument"),
];

pub(super) const FILES: &[Row] = &[
    ("`config.toml`", "the executors, the notifier and the witnesses, written by the person"),
    ("`ledger.jsonl`", "the ledger"),
    ("`index/`", "an index of the ledger, and nodes of its tree; it may be deleted"),
    ("`keys/NAME.pem`", "the person's keys, each sealed with a password"),
    ("`book.key`", "beside the ledger, the book's own private key, made with the first checkpoint"),
    (
        "`direct-grants/PROJECT-HASH.json`",
        "the direct grants of a project, signed. A copy put back gives nothing that was taken back",
    ),
    ("`checkpoint`", "beside the ledger, the newest checkpoint"),
    ("`acts/`", "a locked file for each process that acts"),
    (
        "`blobs/`",
        "beside the ledger, the contents that requests bring and replace, each under its SHA-256. Without them nothing waiting can be approved, and nothing taken back",
    ),
    (
        "`notices/`",
        "beside the ledger, an empty file for each notice that was given. It may be deleted; then notices may be repeated",
    ),
    ("`ledger.torn-TIME`", "what was moved aside from the end of the ledger"),
    (
        "`grants/TYPE/ID~GRANT.json`",
        "the grants' documents. Deleting one pauses its grant; the same bytes put back restore it",
    ),
];
