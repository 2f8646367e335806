//! The brief: `granted.toml` in a project's root, in which a person says what agents may write there.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use super::agent::Agent;
use super::path::ProjectPath;
use super::pattern::{Reach, Scope, is_control_plane};
use crate::digest::Digest;
use crate::text::Name;
use crate::time::parse_duration;

/// A brief.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Brief {
    /// The agents by name.
    #[serde(default)]
    pub agents: BTreeMap<Agent, AgentEntry>,
    /// Whether gates may run where the kernel cannot confine them.
    #[serde(default)]
    pub allow_unconfined_gates: bool,
    /// Bounds.
    #[serde(default)]
    pub caps: Caps,
    /// The gates by name.
    #[serde(default)]
    pub gates: BTreeMap<Name, GateEntry>,
    /// What nobody writes, whatever the scopes say. Where it is not said: [`PROTECTED`].
    #[serde(default = "protected_unsaid", deserialize_with = "protected")]
    pub protected: Vec<Reach>,
}

/// One `[agents.NAME]`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentEntry {
    /// Whether changes wait for a person, or the agent asks for more.
    #[serde(default)]
    pub approval: Approval,
    /// Whether each change set needs a nonce.
    #[serde(default)]
    pub dispatch: Dispatch,
    /// Gates that look at every file of this agent, beside those whose `paths` match.
    #[serde(default)]
    pub gates: Vec<Name>,
    /// The tools.
    #[serde(deserialize_with = "tools")]
    pub tools: Vec<Tool>,
    /// Where it may write.
    #[serde(default)]
    pub write_scopes: Vec<Scope>,
}

/// How the changes of an agent come to be applied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Approval {
    /// A person approves each.
    #[default]
    Staged,
    /// At once, where a person signed a grant for it; else as `staged`.
    Direct,
}

/// Whether a change set needs a nonce.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dispatch {
    /// It may have one.
    #[default]
    Optional,
    /// Without one it is refused.
    Required,
}

/// A tool of the agent's server, in the order in which grants have them.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Tool {
    /// Reads a file and says its digest.
    ReadFileHashed,
    /// Files one file's new content.
    WriteFile,
    /// Files a deletion.
    DeleteFile,
    /// Files a change set.
    ProposeChanges,
    /// Says what became of a request.
    RequestStatus,
}

impl Tool {
    /// Every tool.
    pub const ALL: [Tool; 5] = [
        Tool::ReadFileHashed,
        Tool::WriteFile,
        Tool::DeleteFile,
        Tool::ProposeChanges,
        Tool::RequestStatus,
    ];

    /// The name that clients call.
    pub fn as_str(self) -> &'static str {
        match self {
            Tool::ReadFileHashed => "read_file_hashed",
            Tool::WriteFile => "write_file",
            Tool::DeleteFile => "delete_file",
            Tool::ProposeChanges => "propose_changes",
            Tool::RequestStatus => "request_status",
        }
    }
}

/// One `[gates.NAME]`: a program that must exit with 0.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GateEntry {
    /// The program and its arguments. `{file}` and `{path}`, as whole arguments, are the proposed file in
    /// the gate's own tree and its path in the project.
    #[serde(deserialize_with = "argv")]
    pub argv: Vec<String>,
    /// Files of the project that it needs: they lie in its tree, and their bytes are part of its identity.
    #[serde(default)]
    pub needs: Vec<ProjectPath>,
    /// The files that it looks at, of every agent. Without, it looks at what agents list it for.
    #[serde(default)]
    pub paths: Vec<Reach>,
    /// How long it may take. Default: 120 s, at most 10 min.
    #[serde(default = "default_timeout", deserialize_with = "timeout")]
    pub timeout: Duration,
}

/// Bounds on what agents file.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Caps {
    /// The most bytes that an agent files a day of UTC.
    pub bytes_a_day: u64,
    /// The most bytes of one file, now and as it is to be.
    pub file_bytes: u64,
    /// The most files of one change set.
    pub files: u64,
    /// The most change sets of an agent that wait.
    pub staged: u64,
}

impl Default for Caps {
    fn default() -> Caps {
        Caps { bytes_a_day: 16 * 1024 * 1024, file_bytes: 256 * 1024, files: 32, staged: 50 }
    }
}

/// The most that a brief may allow.
const MAX: Caps =
    Caps { bytes_a_day: 1 << 40, file_bytes: 4 * 1024 * 1024, files: 64, staged: 10_000 };

/// What is protected where a brief says nothing of it, wherever it lies: what steers agents, and what runs or
/// changes how files are read when a person only enters the project or commits.
pub const PROTECTED: [&str; 8] = [
    "**/AGENTS.md",
    "**/CLAUDE.md",
    "**/GEMINI.md",
    "**/.envrc",
    "**/.gitattributes",
    "**/.gitmodules",
    "**/.husky",
    "**/.pre-commit-config.yaml",
];

/// Programs that would run any text as a command.
const SHELLS: [&str; 9] = ["sh", "bash", "dash", "zsh", "ksh", "fish", "csh", "tcsh", "busybox"];

impl Brief {
    /// Finds what each part alone cannot show: names that nothing defines, scopes that a gate's files
    /// lie in, bounds, and what `direct` asks for. One line each; empty for a good brief.
    pub fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        for (agent, entry) in &self.agents {
            let here = format!("agents.{agent}");
            for gate in entry.gates.iter().filter(|gate| !self.gates.contains_key(*gate)) {
                problems.push(format!("{here}: there is no gate `{gate}`"));
            }
            if let Some(gate) = twice(&entry.gates) {
                problems.push(format!("{here}: `gates` names `{gate}` twice"));
            }
            if entry.approval == Approval::Direct && entry.dispatch != Dispatch::Required {
                problems.push(format!(
                    "{here}: `approval = \"direct\"` needs `dispatch = \"required\"`"
                ));
            }
            for (name, gate) in &self.gates {
                for file in gate.files() {
                    for scope in entry.write_scopes.iter().filter(|scope| scope.contains(&file)) {
                        if !self.is_protected(&file) {
                            problems.push(format!(
                                "{here}: scope `{scope}` takes in `{file}`, which gate `{name}` \
                                 runs or needs: protect it"
                            ));
                        }
                    }
                }
            }
        }
        for gate in self.gates.keys().filter(|gate| !is_gate_name(gate)) {
            problems.push(format!("gates.{gate}: a gate's name is of `A-Za-z0-9._-`"));
        }
        let caps = [
            ("bytes_a_day", self.caps.bytes_a_day, MAX.bytes_a_day),
            ("file_bytes", self.caps.file_bytes, MAX.file_bytes),
            ("files", self.caps.files, MAX.files),
            ("staged", self.caps.staged, MAX.staged),
        ];
        for (name, value, most) in caps {
            if value == 0 || value > most {
                problems.push(format!("caps.{name}: it is 1 to {most}"));
            }
        }
        problems
    }

    /// Whether nobody may write the path, whatever the scopes say.
    pub fn is_protected(&self, path: &ProjectPath) -> bool {
        is_control_plane(path) || self.protected.iter().any(|reach| reach.contains(path))
    }

    /// The gates that look at a file of this agent: those that it lists, those whose paths match, and
    /// those that were asked for; in the order of their names.
    pub fn gates_for<'a>(
        &'a self,
        agent: Option<&AgentEntry>,
        path: &ProjectPath,
        asked: &[Name],
    ) -> Vec<(&'a Name, &'a GateEntry)> {
        let listed = agent.map_or(&[][..], |entry| &entry.gates);
        let wanted = |(name, gate): &(&Name, &GateEntry)| {
            listed.contains(name)
                || asked.contains(name)
                || gate.paths.iter().any(|reach| reach.contains(path))
        };
        self.gates.iter().filter(wanted).collect()
    }
}

impl GateEntry {
    /// The project's files that are part of its identity: what it needs, and a script of the project that
    /// its arguments name.
    pub fn files(&self) -> Vec<ProjectPath> {
        let words = self.argv.iter().flat_map(|word| [Some(word.as_str()), value(word)]);
        let words = words.flatten().filter(|word| word.contains('/') || word.contains('.'));
        let scripts = words.filter_map(|word| ProjectPath::normalise(word).ok());
        let mut files: Vec<ProjectPath> = self.needs.iter().cloned().chain(scripts).collect();
        files.sort();
        files.dedup();
        files
    }

    /// The digest of the gate's definition and of the bytes of each file that makes it up: its program by
    /// the path that it was found at, then the project's files; `None` for one that is not there.
    pub fn identity(
        &self,
        program: (&str, Digest),
        files: &[(ProjectPath, Option<Digest>)],
    ) -> Digest {
        #[derive(serde::Serialize)]
        struct Definition<'a> {
            argv: &'a [String],
            files: &'a [(ProjectPath, Option<Digest>)],
            needs: &'a [ProjectPath],
            paths: Vec<&'a str>,
            program: (&'a str, Digest),
            timeout_ms: u64,
        }
        let definition = Definition {
            argv: &self.argv,
            files,
            needs: &self.needs,
            paths: self.paths.iter().map(Reach::as_str).collect(),
            program,
            timeout_ms: u64::try_from(self.timeout.as_millis()).unwrap_or(u64::MAX),
        };
        // Serialising it to bytes cannot fail.
        Digest::of(&serde_json::to_vec(&definition).unwrap_or_default())
    }

    /// Whether an argument names the file that it looks at, so that it runs once for each.
    pub fn is_per_file(&self) -> bool {
        self.argv.iter().any(|word| word == "{file}" || word == "{path}")
    }
}

/// A gate that is listed more than once.
pub fn twice(gates: &[Name]) -> Option<&Name> {
    let earlier = |n| gates.get(..n).unwrap_or_default();
    let mut all = gates.iter().enumerate();
    all.find_map(|(n, gate)| earlier(n).contains(gate).then_some(gate))
}

/// Whether a gate may have this name.
pub(super) fn is_gate_name(name: &Name) -> bool {
    name.as_str().chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
}

/// What follows the `=` of an argument such as `--config=lint.toml`.
fn value(word: &str) -> Option<&str> {
    word.split_once('=').map(|(_, value)| value)
}

fn default_timeout() -> Duration {
    Duration::from_secs(120)
}

fn timeout<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    let text = String::deserialize(deserializer)?;
    let timeout = parse_duration(&text);
    let fits = |span: &Duration| !span.is_zero() && *span <= Duration::from_secs(600);
    timeout.filter(fits).ok_or_else(|| {
        D::Error::custom(format!(
            "`{}` is no time such as 30s, at most 10m",
            crate::text::Shown(&text)
        ))
    })
}

fn argv<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let argv: Vec<String> = Vec::deserialize(deserializer)?;
    let program = argv.first().map(String::as_str).unwrap_or_default();
    if program.is_empty() {
        return Err(D::Error::custom("a gate's argv begins with its program"));
    }
    let name = program.rsplit('/').next().unwrap_or_default();
    if SHELLS.contains(&name) {
        return Err(D::Error::custom("a gate's program is no shell: name a script instead"));
    }
    let misplaced = |word: &&String| {
        (word.contains("{file}") || word.contains("{path}"))
            && !["{file}", "{path}"].contains(&word.as_str())
    };
    if argv.iter().any(|word| misplaced(&word)) || argv.iter().any(|word| word.contains('\0')) {
        return Err(D::Error::custom("`{file}` and `{path}` are whole arguments"));
    }
    Ok(argv)
}

fn tools<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Tool>, D::Error> {
    let tools: Vec<Tool> = Vec::deserialize(deserializer)?;
    let mut sorted = tools.clone();
    sorted.sort_unstable();
    sorted.dedup();
    match !tools.is_empty() && sorted.len() == tools.len() {
        true => Ok(sorted),
        false => Err(D::Error::custom("`tools` names at least one tool, and each once")),
    }
}

fn protected<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Reach>, D::Error> {
    let texts: Vec<String> = Vec::deserialize(deserializer)?;
    texts.iter().map(|text| Reach::parse_protected(text).map_err(D::Error::custom)).collect()
}

fn protected_unsaid() -> Vec<Reach> {
    PROTECTED.iter().filter_map(|text| Reach::parse_protected(text).ok()).collect()
}
