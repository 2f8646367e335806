//! `config.toml`: the executors that the person registered, and how the person is told of something.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use granted_core::decision::discharge::DEFAULT_TIMEOUT;
use granted_core::text::{Name, ObjectType};
use granted_core::time::parse_duration;
use granted_store::custody::Kept;
use granted_store::open::{self, OpenError};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use crate::files;
use crate::home::{CONFIG, Home};

/// The search path of executors whose entry has none.
pub const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// How long an act may take at most.
pub const MAX_TIMEOUT: Duration = Duration::from_secs(24 * 3_600);

/// How long a notifier may take where nothing else is said, and at most.
const NOTIFIER_TIMEOUT: Duration = Duration::from_secs(10);
const MAX_NOTIFIER_TIMEOUT: Duration = Duration::from_secs(60);

/// The config.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The executors by name.
    #[serde(default, deserialize_with = "executors")]
    pub executors: BTreeMap<Name, ExecutorEntry>,
    /// How the person is told of something.
    pub notify: Option<NotifyEntry>,
    /// The files, elsewhere, that hold the newest checkpoint.
    #[serde(default, deserialize_with = "witness")]
    pub witness: Vec<PathBuf>,
    /// Whether authority is used only if every witness can be read and written.
    #[serde(default)]
    pub witness_required: bool,
}

/// One `[executors.NAME]`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExecutorEntry {
    /// The program and its arguments.
    #[serde(deserialize_with = "argv")]
    pub argv: Vec<String>,
    /// Where it runs. Default: the person's home.
    pub cwd: Option<PathBuf>,
    /// Where the program is searched. Default: `/usr/local/bin:/usr/bin:/bin`.
    pub path: Option<String>,
    /// The names of environment variables that are passed to it.
    #[serde(default, deserialize_with = "variables")]
    pub env: Vec<String>,
    /// Files whose bytes are part of its digest.
    #[serde(default)]
    pub files: Vec<PathBuf>,
    /// The object types that it serves. Empty: any.
    #[serde(default)]
    pub types: Vec<ObjectType>,
    /// The actions that it serves. Empty: any.
    #[serde(default)]
    pub actions: Vec<Name>,
    /// How long it may take. Default: [`DEFAULT_TIMEOUT`].
    #[serde(default = "default_timeout", deserialize_with = "timeout")]
    pub timeout: Duration,
    /// The program that confirms a claimed success by exiting with 0.
    #[serde(default, deserialize_with = "some_argv")]
    pub confirm: Option<Vec<String>>,
}

/// `[notify]`
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NotifyEntry {
    /// The program and its arguments. The text is added to them.
    #[serde(deserialize_with = "argv")]
    pub command: Vec<String>,
    /// Where the program is searched. Default: `/usr/local/bin:/usr/bin:/bin`.
    pub path: Option<String>,
    /// The names of environment variables that are passed to it.
    #[serde(default, deserialize_with = "variables")]
    pub env: Vec<String>,
    /// How long it may take. Default: 10 s.
    #[serde(default = "notifier_timeout", deserialize_with = "short_timeout")]
    pub timeout: Duration,
}

/// The config cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct ConfigError {
    /// What is wrong, with the path and, of a text that cannot be read, the line.
    pub what: String,
    /// The command that mends it, where there is one.
    pub mend: Option<String>,
}

/// The most bytes of a config.
const MAX_CONFIG: u64 = 1024 * 1024;

impl Config {
    /// Reads the config of a home; a file that does not exist is an empty one. One that somebody else
    /// could have written is refused.
    pub fn load(home: &Home) -> Result<Config, ConfigError> {
        let path = home.config();
        let whole = |what| ConfigError { what, mend: None };
        let file = match home.folder().file(CONFIG, open::read_at).and_then(Kept::sound) {
            Ok(kept) => kept.handle,
            Err(OpenError::Missing(_)) => return Ok(Config::default()),
            Err(OpenError::Custody { breach }) => {
                return Err(ConfigError { what: breach.to_string(), mend: Some(breach.mend()) });
            }
            Err(e) => return Err(whole(e.to_string())),
        };
        Config::read(file, &path)
    }

    /// Reads an open config. `path` is for messages.
    pub(crate) fn read(file: File, path: &Path) -> Result<Config, ConfigError> {
        let whole = |what| ConfigError { what, mend: None };
        let bytes = files::read_open(file, path, MAX_CONFIG).map_err(whole)?;
        let error = |cause: &str| whole(format!("`{}`: {cause}", path.display()));
        let text = String::from_utf8(bytes).map_err(|_| error("it is not UTF-8 text"))?;
        Config::parse(&text).map_err(|cause| error(&cause))
    }

    /// Reads the config's text; the error names the line.
    pub fn parse(text: &str) -> Result<Config, String> {
        files::parse_toml(text)
    }
}

fn executors<'de, D: Deserializer<'de>>(d: D) -> Result<BTreeMap<Name, ExecutorEntry>, D::Error> {
    // By text first: a map key cannot say which name is bad.
    let entries = BTreeMap::<String, ExecutorEntry>::deserialize(d)?;
    let mut named = BTreeMap::new();
    for (name, entry) in entries {
        let name = Name::new(name).map_err(D::Error::custom)?;
        if name == Name::exec() {
            return Err(D::Error::custom("the name `exec` is kept for `--exec`"));
        }
        named.insert(name, entry);
    }
    Ok(named)
}

fn argv<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let argv = Vec::<String>::deserialize(deserializer)?;
    if argv.first().is_none_or(String::is_empty) || argv.iter().any(|part| part.contains('\0')) {
        return Err(D::Error::custom("it must name a program first, and hold no NUL"));
    }
    Ok(argv)
}

fn variables<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let names = Vec::<String>::deserialize(deserializer)?;
    match names.iter().find(|name| name.is_empty() || name.contains(['=', '\0'])) {
        Some(name) => Err(D::Error::custom(format!("`{name}` is no name of a variable"))),
        None => Ok(names),
    }
}

fn some_argv<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<String>>, D::Error> {
    argv(deserializer).map(Some)
}

fn witness<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<PathBuf>, D::Error> {
    let paths = Vec::<PathBuf>::deserialize(deserializer)?;
    let names_a_file = |path: &PathBuf| path.is_absolute() && path.file_name().is_some();
    match paths.iter().all(names_a_file) {
        true => Ok(paths),
        false => Err(D::Error::custom("a witness is a file, by its path from the root")),
    }
}

fn default_timeout() -> Duration {
    DEFAULT_TIMEOUT
}

fn timeout<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    within(deserializer, MAX_TIMEOUT, "24h")
}

fn notifier_timeout() -> Duration {
    NOTIFIER_TIMEOUT
}

fn short_timeout<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    within(deserializer, MAX_NOTIFIER_TIMEOUT, "60s")
}

fn within<'de, D: Deserializer<'de>>(
    d: D,
    max: Duration,
    shown: &str,
) -> Result<Duration, D::Error> {
    let is_text = |_| D::Error::custom("a timeout is text, such as \"10m\"");
    let text = String::deserialize(d).map_err(is_text)?;
    parse_duration(&text).filter(|timeout| *timeout <= max).ok_or_else(|| {
        let form = "a timeout is an integer and one of s, m, h";
        D::Error::custom(format!("{form}, at most {shown}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_an_executor() {
        let config = Config::parse(
            "[executors.send_report]\nargv = [\"send\", \"--now\"]\ntimeout = \"90s\"\ntypes = [\"report\"]\n",
        )
        .unwrap();
        let entry = &config.executors[&Name::new("send_report").unwrap()];
        assert_eq!(entry.argv, ["send", "--now"]);
        assert_eq!(entry.timeout, Duration::from_secs(90));
        assert_eq!(entry.confirm, None);
    }

    #[test]
    fn reads_a_notifier() {
        assert_eq!(Config::parse("").unwrap().notify, None);
        let config = Config::parse("[notify]\ncommand = [\"notify-send\"]\n").unwrap();
        let NotifyEntry { command, path, env, timeout } = config.notify.unwrap();
        assert_eq!((command, path, env), (vec!["notify-send".to_owned()], None, vec![]));
        assert_eq!(timeout, Duration::from_secs(10));
    }

    #[test]
    fn says_the_line_of_what_is_wrong() {
        for (text, line) in [
            ("x = 1\n", "line 1"),
            ("[executors.a]\nargv = [\"true\"]\nargs = []\n", "line 3"),
            ("[executors.a]\nargv = []\n", "line 2"),
            (
                "[executors.a]\nargv = \"true\"\n",
                "line 2: invalid type: string \"true\", expected a list such as [\"a\", \"b\"]",
            ),
            ("[executors.a]\n\nargv = [\"true\"]\ntimeout = \"25h\"\n", "line 4"),
            (
                "[executors.a]\nargv = [\"true\"]\ntimeout = 5\n",
                "line 3: a timeout is text, such as \"10m\"",
            ),
            (
                "[executors.a]\nargv = [\"true\"]\nenv = [\"A=b\"]\n",
                "line 3: `A=b` is no name of a variable",
            ),
            ("[executors.exec]\nargv = [\"true\"]\n", "line"),
            ("[executors.a\n", "line 1"),
            ("[notify]\ncommand = []\n", "line 2"),
            ("[notify]\ncommand = [\"a\"]\ntimeout = \"61s\"\n", "line 3"),
            ("[notify]\ncommand = [\"a\"]\ncwd = \"/\"\n", "line 3"),
            ("[notify]\npath = \"/bin\"\n", "line 1"),
            ("witness_required = true\nwitness = [\"stick/granted\"]\n", "line 2"),
            ("witness = [\"/\"]\n", "line 1"),
            ("witness = \"/mnt/a\"\n", "line 1: invalid type: string \"/mnt/a\", expected a list"),
        ] {
            let error = Config::parse(text).unwrap_err();
            assert!(error.starts_with(line), "{text:?}: {error}");
        }
    }
}
