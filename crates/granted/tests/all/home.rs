//! A throw-away home, and the program run in it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// The program under test.
pub const GRANTED: &str = env!("CARGO_BIN_EXE_granted");

/// An empty home that goes away with the value.
pub struct Home {
    dir: TempDir,
}

/// What a run of the program came to.
#[derive(Debug)]
pub struct Run {
    /// The exit code; −1 for a signal.
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Home {
    /// Files are made in it as most people have them made, whatever the umask here is.
    pub fn new() -> Home {
        rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o022));
        Home { dir: tempfile::tempdir().unwrap() }
    }

    /// The folder in which commands run; the home proper is `.granted` in it.
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    pub fn root(&self) -> PathBuf {
        self.dir().join(".granted")
    }

    pub fn ledger(&self) -> PathBuf {
        self.root().join("ledger.jsonl")
    }

    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.dir().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    /// The program with a bare environment and this home.
    pub fn command<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Command {
        let mut command = Command::new(GRANTED);
        command.args(args).current_dir(self.dir()).env_clear();
        command.env("HOME", self.dir()).env("PATH", "/usr/local/bin:/usr/bin:/bin");
        command.stdin(Stdio::null());
        command
    }

    /// A shell line in the same environment, with the program on its path and the last grant and
    /// attempt of the ledger as `$GRANT` and `$DISCHARGE`.
    pub fn shell(&self, line: &str) -> Command {
        let ledger = std::fs::read_to_string(self.ledger()).unwrap_or_default();
        let last = |kind: &str| {
            let (_, id) = ledger.rsplit_once(kind).unwrap_or_default();
            id.split('"').next().unwrap().to_owned()
        };
        let mut command = self.other("/bin/sh");
        command.args(["-c", line]);
        command.env("GRANT", last("\"grant:")).env("DISCHARGE", last("\"discharge:"));
        command
    }

    pub fn run<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Run {
        self.command(args).output().unwrap().into()
    }

    /// Another program in the same environment, with the program on its path.
    pub fn other(&self, program: &str) -> Command {
        let bin = Path::new(GRANTED).parent().unwrap().display();
        let mut command = Command::new(program);
        command.current_dir(self.dir()).env_clear().stdin(Stdio::null());
        command.env("HOME", self.dir()).env("PATH", format!("{bin}:/usr/local/bin:/usr/bin:/bin"));
        command
    }

    /// Mints a grant of `report/FROM` to `report/TO`, in one append.
    pub fn mint_sheet(&self, ids: std::ops::Range<usize>) {
        let line = |id| format!("{{\"object\":{{\"type\":\"report\",\"id\":\"{id}\"}}}}\n");
        self.write("sheet.jsonl", ids.map(line).collect::<String>());
        self.say("mint --sheet sheet.jsonl --by me --for 1h").ok();
    }

    /// The ledger's bytes.
    pub fn bytes(&self) -> Vec<u8> {
        std::fs::read(self.ledger()).unwrap()
    }

    /// How many lines this file has: an executor's side effects. None if it is not there.
    pub fn count(&self, name: &str) -> usize {
        std::fs::read_to_string(self.dir().join(name)).map_or(0, |text| text.lines().count())
    }

    /// Writes an executable script.
    pub fn script(&self, name: &str, text: &str) -> PathBuf {
        let path = self.write(name, text);
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&path, mode).unwrap();
        path
    }

    /// Runs the words of a line, which may not need quotes.
    pub fn say(&self, line: &str) -> Run {
        self.run(line.split_whitespace())
    }

    /// Mints a single-use grant of `report/ID` for an hour; its id.
    pub fn mint(&self, id: &str, more: &str) -> String {
        let line = format!("mint --type report --id {id} --by me --for 1h --json {more}");
        let minted = self.say(&line).ok();
        minted.json()["grant"]["id"].as_str().unwrap().to_owned()
    }

    /// Discharges `report/ID` with a shell command; the report.
    pub fn discharge(&self, id: &str, exec: &str, more: &[&str]) -> Value {
        let args = ["discharge", "--type", "report", "--id", id, "--json", "--exec", exec];
        self.run(args.iter().chain(more)).json()
    }

    /// Discharges `report/ID` so that it is uncertain what became of it; the attempt.
    pub fn discharge_in_doubt(&self, id: &str) -> String {
        let report = self.discharge(id, &format!("{GRANTED} result --ok; exit 75"), &[]);
        assert_eq!(report["reason"], "executor_uncertain", "{report}");
        report["discharge_id"].as_str().unwrap().to_owned()
    }

    pub fn status(&self, id: &str) -> String {
        let run = self.run(["status", "--type", "report", "--id", id, "--json"]);
        run.json()["status"].as_str().unwrap().to_owned()
    }

    /// The path of the one document of `report/ID`.
    pub fn document(&self, id: &str) -> PathBuf {
        let folder = self.root().join("grants/report");
        let mut found = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let ours = |path: &PathBuf| {
            let name = path.file_name().unwrap().to_str().unwrap();
            name.rsplit_once('~').unwrap().0 == id
        };
        found.find(ours).unwrap()
    }

    /// The rows of the ledger, as they lie there; but for a line that is just being written.
    pub fn rows(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.ledger()).unwrap();
        let (whole, _) = text.rsplit_once('\n').unwrap_or_default();
        whole.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The rows of this kind.
    pub fn rows_of(&self, kind: &str) -> Vec<Value> {
        self.rows().into_iter().filter(|row| row["kind"] == kind).collect()
    }

    /// The ledger is whole.
    pub fn verify(&self) {
        let run = self.say("ledger verify");
        assert_eq!(run.code, 0, "{run:?}");
    }
}

impl Run {
    /// It succeeded.
    #[track_caller]
    pub fn ok(self) -> Run {
        self.exits(0)
    }

    /// It exited with this code.
    #[track_caller]
    pub fn exits(self, code: i32) -> Run {
        assert_eq!(self.code, code, "{self:?}");
        self
    }

    /// The one JSON value that it printed.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("{e}: {self:?}"))
    }
}

impl From<Output> for Run {
    fn from(output: Output) -> Run {
        Run {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}
