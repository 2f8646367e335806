//! The programs that agents run in, and their own config files: where the server of writes is entered, and
//! the built-in tools that edit files are denied.
//!
//! Each file is merged: what is there stays, comments included, and a second time changes nothing.

mod claude_code;
mod codex;
mod goose;

use std::path::{Path, PathBuf};

use granted_core::write::direct::{GRANTS_DIR, VERIFY_KEYS_DIR};
use granted_core::write::{Agent, Project};

use crate::home::{self, Home};

/// The name under which hosts know the server.
const SERVER: &str = "granted-writes";

/// The variables that say where the book is.
const PLACES: [&str; 3] = ["GRANTED_HOME", "GRANTED_LEDGER", "GRANTED_STORE"];

/// The most bytes of a config file.
const MAX_FILE: u64 = 4 << 20;

/// A program that agents run in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Host {
    /// Claude Code.
    ClaudeCode,
    /// Codex CLI.
    Codex,
    /// Goose.
    Goose,
}

/// What is entered.
#[derive(Clone, Debug)]
pub struct Wiring {
    command: String,
    args: Vec<String>,
    env: Vec<(String, String)>,
    /// The folders that no tool of the host has any business in.
    closed: Vec<String>,
}

/// A file of a host, as it is and as it is to be.
#[derive(Clone, Debug)]
pub struct Planned {
    /// Where.
    pub path: PathBuf,
    /// What it holds; `None` if it is not there.
    pub before: Option<String>,
    /// What it is to hold.
    pub after: String,
}

impl Planned {
    /// Whether nothing is to be changed.
    pub fn is_done(&self) -> bool {
        self.before.as_ref() == Some(&self.after)
    }
}

/// How a file is merged.
type Merge = fn(&str, &Wiring) -> Result<String, String>;

impl Host {
    /// Every host.
    pub const ALL: [Host; 3] = [Host::ClaudeCode, Host::Codex, Host::Goose];

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Host::ClaudeCode => "claude-code",
            Host::Codex => "codex",
            Host::Goose => "goose",
        }
    }

    /// What its config cannot do, for the person.
    pub fn remarks(self) -> &'static [&'static str] {
        match self {
            Host::ClaudeCode => &[
                "Claude Code asks you once whether to use the servers of `.mcp.json`",
                "the rules deny its tools that edit; its Bash can still write files, so deny that too or have it sandboxed",
            ],
            Host::Codex => &[
                "Codex reads this file in projects that you trust, and ignores the profile if `sandbox_mode` is set anywhere",
            ],
            Host::Goose => &[
                "Goose has no config of a project: this is yours, for all of them",
                "its developer extension is switched off, with the shell that is part of it",
            ],
        }
    }

    fn files(self, project: &Path) -> Result<Vec<(PathBuf, Merge)>, String> {
        Ok(match self {
            Host::ClaudeCode => vec![
                (project.join(".mcp.json"), claude_code::servers as Merge),
                (project.join(".claude/settings.json"), claude_code::settings),
            ],
            Host::Codex => vec![(project.join(".codex/config.toml"), codex::config)],
            Host::Goose => {
                let config = home::var("XDG_CONFIG_HOME").map(PathBuf::from);
                let config = config
                    .or_else(|| Some(PathBuf::from(home::var("HOME")?).join(".config")))
                    .ok_or("neither XDG_CONFIG_HOME nor HOME is set")?;
                vec![(config.join("goose/config.yaml"), goose::config)]
            }
        })
    }

    /// Its files, as they are and as they are to be.
    pub fn plan(self, project: &Project, wiring: &Wiring) -> Result<Vec<Planned>, String> {
        let mut planned = Vec::new();
        for (path, merge) in self.files(Path::new(project.as_str()))? {
            let wrong = |why: String| format!("`{}`: {why}", path.display());
            let before = crate::files::read(&path, MAX_FILE)?;
            let before = before.map(String::from_utf8).transpose();
            let before = before.map_err(|_| wrong("it is not UTF-8 text".into()))?;
            let after = merge(before.as_deref().unwrap_or_default(), wiring).map_err(wrong)?;
            planned.push(Planned { path, before, after });
        }
        Ok(planned)
    }
}

impl std::str::FromStr for Host {
    type Err = String;

    fn from_str(text: &str) -> Result<Host, String> {
        Host::ALL
            .into_iter()
            .find(|host| host.as_str() == text)
            .ok_or_else(|| "it is claude-code, codex or goose".into())
    }
}

impl Wiring {
    /// Of the program that runs, for this agent of a project and the book of this home.
    pub fn new(home: &Home, project: &Project, agent: &Agent) -> Result<Wiring, String> {
        let program = std::env::current_exe().map_err(|e| format!("this program's path: {e}"))?;
        let text = |path: &Path| match path.to_str() {
            Some(text) => Ok(text.to_owned()),
            None => Err(format!("`{}` is not UTF-8", path.display())),
        };
        let root = home.root().canonicalize().unwrap_or_else(|_| home.root().to_owned());
        let set = |name: &&str| home::var(name).is_some();
        let place = |name: &str| {
            let path = match name {
                "GRANTED_HOME" => home.root(),
                "GRANTED_LEDGER" => home.ledger(),
                _ => home.documents(),
            };
            Ok((name.to_owned(), text(path)?))
        };
        let args = ["writes", "mcp", "--agent", agent.as_str(), "--project", project.as_str()];
        Ok(Wiring {
            command: text(&program)?,
            args: args.map(str::to_owned).to_vec(),
            env: PLACES.into_iter().filter(set).map(place).collect::<Result<_, String>>()?,
            closed: [GRANTS_DIR, VERIFY_KEYS_DIR]
                .map(|folder| text(&root.join(folder)))
                .into_iter()
                .collect::<Result<_, String>>()?,
        })
    }
}

#[cfg(test)]
mod tests;
