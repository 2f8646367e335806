//! One list of scenarios, run through the library, the command line and MCP, which must agree
//! field by field.

use std::process::{Child, Command, Stdio};

use granted::{Act, Book, Door, Grant, Json, Object, Request, Verdict};
use serde_json::{Value, json};

use crate::client::Client;
use crate::home::Home;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Through {
    Library,
    Cli,
    Mcp,
}
use Through::{Cli, Library, Mcp};

const ALL: &[Through] = &[Library, Cli, Mcp];
/// What only a command can do.
const COMMANDS: &[Through] = &[Cli, Mcp];

/// One thing that happens.
#[derive(Clone, Copy)]
enum Step {
    /// The person says this to the command line.
    Person(&'static str),
    /// Something happens to the home.
    Happens(fn(&Home)),
    /// Another process begins to discharge `report/a` and holds it.
    Held,
    /// That process is killed.
    Killed,
    /// The agent asks for `report/a`, through an executor, with more: an action, a key and its own name,
    /// where they are not empty. How it ends.
    Asks(&'static str, [&'static str; 3], &'static str),
    /// The status of `report/a`.
    Is(&'static str),
}
use Step::{Asks, Happens, Held, Is, Killed, Person};

const MINT: Step = Person("mint --type report --id a --by me --for 1h");
const NOTHING: [&str; 3] = ["", "", ""];

/// A command that declines leaves a result row, by the wrapper; a closure leaves none. So these
/// stories are told by both, but are not compared.
const DECLINED: &[Step] = &[
    MINT,
    Asks("declines", NOTHING, "refused: executor_declined"),
    Is("live"),
    Asks("ok", NOTHING, "discharged: confirmed"),
];
const SESSION: &[Step] = &[
    Person("mint --type report --id a --by me --for 1h --decision APPROVE_SESSION"),
    Asks("ok", NOTHING, "discharged: confirmed"),
    Is("live"),
    Asks("declines", NOTHING, "refused: executor_declined"),
    Asks("ok", NOTHING, "discharged: confirmed"),
    Asks("fails", NOTHING, "refused: executor_failed"),
    Is("consumed"),
    Asks("ok", NOTHING, "refused: consumed"),
];
const KEYS: &[Step] = &[
    MINT,
    Asks("declines", ["", "k", ""], "refused: executor_declined"),
    Asks("declines", ["", "k", ""], "refused: executor_declined"),
    Asks("ok", ["", "k", ""], "discharged: confirmed"),
    Asks("ok", ["", "k", ""], "discharged: confirmed"),
    Asks("ok", ["", "other", ""], "refused: consumed"),
    Asks("fails", ["", "k", ""], "refused: invalid_request"),
    Asks("ok", ["send", "k", ""], "refused: invalid_request"),
];

/// The scenarios: their names, the doors that can, and what happens.
const SCENARIOS: &[(&str, &[Through], &[Step])] = &[
    (
        "discharged",
        ALL,
        &[
            MINT,
            Is("live"),
            Asks("ok", NOTHING, "discharged: confirmed"),
            Is("consumed"),
            Asks("ok", NOTHING, "refused: consumed"),
        ],
    ),
    ("never minted", ALL, &[Asks("ok", NOTHING, "refused: none"), Is("none")]),
    (
        "not yet",
        ALL,
        &[
            Person(
                "mint --type report --id a --by me --not-before 2099-01-01T00:00:00Z --not-after 2099-01-02T00:00:00Z",
            ),
            Asks("ok", NOTHING, "refused: not_yet"),
            Is("not_yet"),
        ],
    ),
    (
        "expired",
        ALL,
        &[
            Person("mint --type report --id a --by me --for 1s"),
            Happens(until_expired),
            Asks("ok", NOTHING, "expired: expired"),
            Is("expired"),
            Person("tick"),
            Asks("ok", NOTHING, "expired: expired"),
        ],
    ),
    (
        "revoked",
        ALL,
        &[
            MINT,
            Person("revoke --type report --id a"),
            Asks("ok", NOTHING, "refused: revoked"),
            Is("revoked"),
        ],
    ),
    (
        "document gone",
        ALL,
        &[
            MINT,
            Happens(|home| std::fs::remove_file(home.document("a")).unwrap()),
            Asks("ok", NOTHING, "refused: none"),
            Is("none"),
        ],
    ),
    (
        "document edited",
        ALL,
        &[
            MINT,
            Happens(|home| std::fs::write(home.document("a"), "{}").unwrap()),
            Asks("ok", NOTHING, "refused: unreadable"),
            Is("unreadable"),
        ],
    ),
    (
        "actions",
        ALL,
        &[
            Person("mint --type report --id a --by me --for 1h --allow send"),
            Asks("ok", NOTHING, "refused: action_not_allowed"),
            Asks("ok", ["pay", "", ""], "refused: action_not_allowed"),
            Asks("ok", ["send", "", ""], "discharged: confirmed"),
        ],
    ),
    (
        "what stays human",
        ALL,
        &[MINT, Asks("ok", ["pay", "", ""], "refused: action_not_allowed"), Is("live")],
    ),
    (
        "agents",
        ALL,
        &[
            Person("mint --type report --id a --by me --for 1h --agent claude"),
            Asks("ok", NOTHING, "refused: agent_not_named"),
            Asks("ok", ["", "", "codex"], "refused: agent_not_named"),
            Asks("ok", ["", "", "claude"], "discharged: confirmed"),
        ],
    ),
    (
        "pinned executor",
        ALL,
        &[
            Person("mint --type report --id a --by me --for 1h --executor ok"),
            Asks("fails", NOTHING, "refused: action_not_allowed"),
            Asks("ok", NOTHING, "discharged: confirmed"),
        ],
    ),
    (
        "unknown executor",
        COMMANDS,
        &[
            MINT,
            Asks("nobody", NOTHING, "refused: unknown_executor"),
            Asks("missing", NOTHING, "refused: unknown_executor"),
            Is("live"),
        ],
    ),
    (
        "an executor that serves something else",
        COMMANDS,
        &[MINT, Asks("invoices", NOTHING, "refused: action_not_allowed")],
    ),
    ("declined", COMMANDS, DECLINED),
    ("declined, by a closure", &[Library], DECLINED),
    (
        "failed",
        ALL,
        &[
            MINT,
            Asks("fails", NOTHING, "refused: executor_failed"),
            Is("consumed"),
            Asks("ok", NOTHING, "refused: consumed"),
        ],
    ),
    (
        "its own result says that it failed",
        COMMANDS,
        &[MINT, Asks("says_failed", NOTHING, "refused: result_failed"), Is("consumed")],
    ),
    (
        "its own result contradicts it",
        COMMANDS,
        &[MINT, Asks("contradicts", NOTHING, "uncertain: executor_uncertain"), Is("consumed")],
    ),
    ("timeout", COMMANDS, &[MINT, Asks("sleeps", NOTHING, "uncertain: timeout"), Is("consumed")]),
    (
        "not confirmed",
        COMMANDS,
        &[MINT, Asks("unconfirmed", NOTHING, "uncertain: not_confirmed"), Is("consumed")],
    ),
    (
        "no result row",
        &[Library],
        &[MINT, Asks("silent", NOTHING, "uncertain: no_result_row"), Is("consumed")],
    ),
    (
        "document gone during the act",
        ALL,
        &[MINT, Asks("eats", NOTHING, "uncertain: receipt_mismatch"), Is("consumed")],
    ),
    (
        "a bound file changed",
        ALL,
        &[
            Happens(|home| drop(home.write("bound", "before"))),
            Person("mint --type report --id a --by me --for 1h --bind bound"),
            Happens(|home| drop(home.write("bound", "after"))),
            Asks("ok", NOTHING, "refused: binding_changed"),
            Is("live"),
        ],
    ),
    ("session", COMMANDS, SESSION),
    ("session, by a closure", &[Library], SESSION),
    ("keys", COMMANDS, KEYS),
    ("keys, by a closure", &[Library], KEYS),
    (
        "the key of a failure, after another mint",
        ALL,
        &[
            MINT,
            Asks("fails", ["", "k", ""], "refused: executor_failed"),
            Asks("fails", ["", "k", ""], "refused: executor_failed"),
            MINT,
            Asks("fails", ["", "k", ""], "refused: executor_failed"),
            Is("consumed"),
        ],
    ),
    (
        "another attempt runs",
        ALL,
        &[MINT, Held, Is("consumed"), Asks("ok", NOTHING, "refused: claim_lost")],
    ),
    (
        "another attempt was cut off",
        ALL,
        &[
            MINT,
            Held,
            Killed,
            Is("consumed"),
            Asks("ok", NOTHING, "refused: consumed"),
            Is("consumed"),
        ],
    ),
    (
        "the ledger cannot be written",
        ALL,
        &[
            Happens(|home| std::fs::create_dir_all(home.ledger()).unwrap()),
            Asks("ok", NOTHING, "refused: ledger_unwritable"),
        ],
    ),
    (
        "the ledger is damaged",
        ALL,
        &[
            MINT,
            Happens(|home| {
                let sound = std::fs::read(home.ledger()).unwrap();
                std::fs::write(home.ledger(), [sound.as_slice(), b"no row\n"].concat()).unwrap();
            }),
            Asks("ok", NOTHING, "refused: ledger_unwritable"),
        ],
    ),
    (
        "the clock is behind",
        ALL,
        &[Happens(opened_in_2099), Asks("ok", NOTHING, "refused: clock_behind")],
    ),
];

fn config() -> String {
    let granted = env!("CARGO_BIN_EXE_granted");
    let shell = |name: &str, script: &str| {
        format!("[executors.{name}]\nargv = [\"/bin/sh\", \"-c\", '{script}']\n")
    };
    [
        shell("ok", "exit 0"),
        shell("declines", "exit 75"),
        shell("fails", "exit 1"),
        shell("eats", "rm \"$GRANTED_GRANT_PATH\""),
        shell("says_failed", &format!("{granted} result --failed")),
        shell("contradicts", &format!("{granted} result --ok; exit 1")),
        shell("sleeps", "exec sleep 1000") + "timeout = \"1s\"\n",
        shell("unconfirmed", "exit 0") + "confirm = [\"false\"]\n",
        shell("invoices", "exit 0") + "types = [\"invoice\"]\n",
        "[executors.missing]\nargv = [\"/no/such/program\"]\n".to_owned(),
    ]
    .concat()
}

fn until_expired(home: &Home) {
    while home.status("a") != "expired" {
        std::thread::yield_now();
    }
}

/// A ledger whose first row is from the future.
fn opened_in_2099(home: &Home) {
    home.mint("b", "");
    let text = std::fs::read_to_string(home.ledger()).unwrap();
    let mut row: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    row["at"] = "2099-01-01T00:00:00.000000Z".into();
    std::fs::write(home.ledger(), format!("{row}\n")).unwrap();
    let _ = std::fs::remove_dir_all(home.root().join("index"));
}

/// What a closure does in place of an executor of the config.
fn closure(executor: &'static str, home: &Home) -> impl FnOnce(&Grant, &mut Act) -> Verdict {
    let document = (executor == "eats").then(|| home.document("a"));
    move |_, act| {
        let exit = |code: i64| Some(Json::object([("exit", Json::Int(code))]));
        match executor {
            "declines" => return Verdict::Declined,
            "silent" => return Verdict::Done,
            "fails" => {
                act.result(false, exit(1));
                return Verdict::Failed("it exited with 1".into());
            }
            _ => act.result(true, exit(0)),
        }
        if let Some(document) = document {
            std::fs::remove_file(document).unwrap();
        }
        Verdict::Done
    }
}

/// A home, and the door through which the agent reaches it.
struct World {
    home: Home,
    through: Through,
    holder: Option<Child>,
}

impl World {
    fn new(through: Through) -> World {
        let home = Home::new();
        home.write(".granted/config.toml", config());
        World { home, through, holder: None }
    }

    fn client(&self, agent: &str) -> Client {
        let named = ["--agent", agent];
        Client::legacy(&self.home, if agent.is_empty() { &[] } else { &named })
    }

    fn book(&self) -> Book {
        Book::open(granted::Home::at(self.home.root()), Door::Library)
    }

    /// The report of an attempt.
    fn ask(&self, executor: &'static str, [action, key, agent]: [&str; 3]) -> Value {
        match self.through {
            Library => {
                let mut request = Request::new("report", "a", executor).unwrap();
                if !action.is_empty() {
                    request = request.action(action).unwrap();
                }
                if !key.is_empty() {
                    request = request.key(key).unwrap();
                }
                if !agent.is_empty() {
                    request = request.agent(agent).unwrap();
                }
                let report =
                    granted::discharge(&self.book(), &request, closure(executor, &self.home));
                serde_json::to_value(report).unwrap()
            }
            Cli => {
                let mut args = vec![
                    "discharge",
                    "--type",
                    "report",
                    "--id",
                    "a",
                    "--json",
                    "--executor",
                    executor,
                ];
                for (flag, value) in [("--action", action), ("--key", key), ("--agent", agent)] {
                    if !value.is_empty() {
                        args.extend([flag, value]);
                    }
                }
                let run = self.home.run(args);
                let report = run.json();
                let code = match report["outcome"].as_str().unwrap() {
                    "discharged" => 0,
                    "refused" => 3,
                    "uncertain" => 4,
                    _ => 5,
                };
                run.exits(code);
                report
            }
            Mcp => {
                let mut client = self.client(agent);
                let mut asked = json!({"type": "report", "id": "a", "executor": executor});
                for (name, value) in [("action", action), ("key", key)] {
                    if !value.is_empty() {
                        asked[name] = value.into();
                    }
                }
                let report = client.call("grant_discharge", asked);
                client.end();
                report
            }
        }
    }

    /// The status and the grant.
    fn look(&self) -> Value {
        let (status, grant) = match self.through {
            Library => {
                let request = Request::new("report", "a", "x").unwrap();
                let object: Object = request.object;
                let view = granted::status(&self.book(), &object).unwrap();
                (json!(view.status), json!(view.grant))
            }
            Cli => {
                let view = self.home.say("status --type report --id a --json").json();
                (view["status"].clone(), view["grant"].clone())
            }
            Mcp => {
                let mut client = self.client("");
                let view = client.call("grant_status", json!({"type": "report", "id": "a"}));
                client.end();
                (view["status"].clone(), view["grant"].clone())
            }
        };
        json!({"status": status, "grant": grant})
    }

    fn hold(&mut self) {
        let begun = self.home.dir().join("begun");
        assert!(Command::new("mkfifo").arg(&begun).status().unwrap().success());
        let exec = "echo > begun; exec sleep 1000";
        let args = ["discharge", "--type", "report", "--id", "a", "--exec", exec];
        let mut command = self.home.command(args);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        self.holder = Some(command.spawn().unwrap());
        std::fs::read(begun).unwrap();
    }

    /// Goes through the steps; what the agent saw, and the kinds of rows that were written.
    fn story(&mut self, name: &str, steps: &[Step]) -> Vec<Value> {
        let mut seen = Vec::new();
        for step in steps {
            match *step {
                Person(line) => drop(self.home.say(line).ok()),
                Happens(what) => what(&self.home),
                Held => self.hold(),
                Killed => {
                    let mut holder = self.holder.take().unwrap();
                    holder.kill().unwrap();
                    holder.wait().unwrap();
                }
                Asks(executor, more, ends) => {
                    let report = self.ask(executor, more);
                    let ended = format!(
                        "{}: {}",
                        report["outcome"].as_str().unwrap(),
                        report["reason"].as_str().unwrap()
                    );
                    assert_eq!(ended, ends, "{name}, {:?}: {report}", self.through);
                    seen.push(report);
                }
                Is(status) => {
                    let view = self.look();
                    assert_eq!(view["status"], status, "{name}, {:?}: {view}", self.through);
                    seen.push(view);
                }
            }
        }
        if self.home.ledger().is_file() && name != "the ledger is damaged" {
            seen.extend(self.home.rows().into_iter().map(|row| row["kind"].clone()));
            if name != "the clock is behind" {
                self.home.verify();
            }
        }
        seen.iter().map(|value| scrubbed(value, &self.home)).collect()
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if let Some(mut holder) = self.holder.take() {
            // It stops its executor and records that.
            let kill = format!("kill -TERM {}", holder.id());
            let _ = Command::new("sh").args(["-c", &kill]).status();
            let _ = holder.wait();
        }
    }
}

/// The value without what is new in each home: ids, instants, offsets and the home's own path.
fn scrubbed(value: &Value, home: &Home) -> Value {
    match value {
        Value::String(text) => {
            let text = text.replace(home.dir().to_str().unwrap(), "HOME");
            // How long a row is depends on its instants.
            let text = match text.split_once("(byte ") {
                None => text,
                Some((before, after)) => {
                    format!(
                        "{before}(byte N{}",
                        after.trim_start_matches(|c: char| c.is_ascii_digit())
                    )
                }
            };
            let words = text.split_inclusive([' ', ';', ',', '(', ')']);
            words.map(scrubbed_word).collect::<String>().into()
        }
        Value::Array(values) => values.iter().map(|value| scrubbed(value, home)).collect(),
        Value::Object(members) => {
            members.iter().map(|(key, value)| (key.clone(), scrubbed(value, home))).collect()
        }
        other => other.clone(),
    }
}

fn scrubbed_word(word: &str) -> String {
    let bare = word.trim_end_matches([' ', ';', ',', '(', ')']);
    let rest = &word[bare.len()..];
    let is_id =
        bare.len() == 26 && bare.bytes().all(|b| b.is_ascii_digit() || b.is_ascii_uppercase());
    let is_time = bare.len() >= 20 && bare.starts_with("20") && bare.ends_with('Z');
    // Where a line begins depends on how many digits the instants before it have.
    let is_offset = word.ends_with(')') && bare.parse::<u64>().is_ok();
    match (is_id, is_time) {
        (true, _) => format!("ID{rest}"),
        (_, true) => format!("TIME{rest}"),
        _ if is_offset => format!("OFFSET{rest}"),
        _ => word.to_owned(),
    }
}

#[test]
fn they_agree() {
    for (name, doors, steps) in SCENARIOS {
        let mut first: Option<(Through, Vec<Value>)> = None;
        for through in *doors {
            let seen = World::new(*through).story(name, steps);
            match &first {
                None => first = Some((*through, seen)),
                Some((other, expected)) => {
                    assert_eq!(&seen, expected, "{name}: {through:?} and {other:?} differ");
                }
            }
        }
    }
}

#[test]
fn every_reason_that_an_agent_can_meet_is_among_them() {
    // These need a clock, a disk or a store that this list does not have, or come with signatures.
    let elsewhere =
        ["unsigned", "untrusted_key", "bad_signature", "ledger_rolled_back", "interrupted"];
    for reason in granted::REASONS {
        let met = SCENARIOS.iter().flat_map(|(_, _, steps)| *steps).any(|step| match step {
            Asks(_, _, ends) => ends.split(": ").nth(1) == Some(reason.as_str()),
            _ => false,
        });
        assert_ne!(met, elsewhere.contains(&reason.as_str()), "{reason}");
    }
}
