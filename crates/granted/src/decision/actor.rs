//! What carries an act out: a command, or a closure of the program that uses the library.

use std::ffi::{OsStr, OsString};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use granted_core::decision::conclude::{Check, Returned, Verdict};
use granted_core::decision::discharge::{DEFAULT_TIMEOUT, Executor, Request};
use granted_core::decision::document::DocumentName;
use granted_core::decision::{Acted, Claim, Ended, Grant, Identity};
use granted_core::json::Json;
use granted_core::text::{Name, ObjectType};
use granted_exec::{Definition, Echo, Limits, Program, Stop};
use granted_store::open::in_words;
use rustix::fs::{Access, access};

use crate::book::Book;
use crate::config::{Config, DEFAULT_PATH, ExecutorEntry};
use crate::{clock, home};

/// Carries out what a claim permits.
pub trait Actor {
    /// What the decision needs to know of it.
    fn executor(&self) -> Executor;

    /// Gets ready to run from a sealed copy of its bytes, for a grant that is bound to what it is;
    /// says what that is, or why it cannot.
    fn seal(&mut self) -> Result<Identity, String>;

    /// What it is now, where it lies.
    fn identity(&self) -> Result<Identity, String>;

    /// Acts, once: the claim is used up. Under a grant that is bound to what it is, from the sealed
    /// copy.
    fn act(&mut self, claim: Claim, handed: &Handed<'_>) -> (Acted, Returned);
}

/// What an actor is handed besides its claim.
pub struct Handed<'a> {
    pub(crate) book: &'a Book,
    pub(crate) request: &'a Request,
    pub(crate) token: &'a str,
}

/// A command: a registered executor, or one given on the command line.
pub struct Command {
    name: Name,
    program: Result<Program, String>,
    sealed: Option<Program>,
    types: Vec<ObjectType>,
    actions: Vec<Name>,
    timeout: Duration,
    stop: Stop,
    echo: bool,
}

impl Command {
    /// The executor of that name in the config.
    pub fn registered(config: &Config, name: Name, stop: Stop) -> Command {
        match config.executors.get(&name) {
            Some(entry) => Command::entered(name, entry, stop),
            None => Command::missing(name, config.executors.keys(), stop),
        }
    }

    /// The executor of this entry of the config.
    pub fn entered(name: Name, entry: &ExecutorEntry, stop: Stop) -> Command {
        Command {
            program: prepare(&name, entry),
            types: entry.types.clone(),
            actions: entry.actions.clone(),
            timeout: entry.timeout,
            ..Command::new(name, stop)
        }
    }

    /// The program, if it can be run.
    pub(crate) fn program(&self) -> Option<&Program> {
        self.program.as_ref().ok()
    }

    /// A name that stands for none of the registered executors, which are these.
    pub fn missing<'a>(
        name: Name,
        registered: impl IntoIterator<Item = &'a Name>,
        stop: Stop,
    ) -> Command {
        let program = Err(unregistered(&name, registered));
        Command { program, ..Command::new(name, stop) }
    }

    /// A shell command that the caller gives, run in the caller's directory with the caller's
    /// search path.
    pub fn inline(command: OsString, stop: Stop) -> Command {
        Command::shell(Name::exec(), command, stop)
    }

    /// As [`Command::inline`], under a name.
    pub fn shell(name: Name, command: OsString, stop: Stop) -> Command {
        let path = home::var("PATH").unwrap_or_else(|| DEFAULT_PATH.into());
        let cwd = std::env::current_dir().map_err(|e| format!("the current directory: {e}"));
        let program = cwd.and_then(|cwd| {
            check_first_word(&command, &cwd)?;
            let definition = Definition {
                name: name.clone(),
                argv: vec!["/bin/sh".into(), "-c".into(), command],
                cwd,
                env: environment(&path, &[]),
                asks: Vec::new(),
                path,
                files: Vec::new(),
                confirm: None,
            };
            Program::prepare(definition).map_err(|e| e.to_string())
        });
        Command { program, ..Command::new(name, stop) }
    }

    /// One that has no program yet, serves everything and has the usual time.
    fn new(name: Name, stop: Stop) -> Command {
        Command {
            name,
            program: Err(String::new()),
            sealed: None,
            types: Vec::new(),
            actions: Vec::new(),
            timeout: DEFAULT_TIMEOUT,
            stop,
            echo: false,
        }
    }

    /// Passes the child's output through to stderr as it comes.
    pub fn echoing(self) -> Command {
        Command { echo: true, ..self }
    }

    /// The executor's name.
    pub fn name(&self) -> &Name {
        &self.name
    }

    /// How long it may take where the caller says nothing.
    pub fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Why it cannot be run, if it cannot.
    pub fn problem(&self) -> Option<&str> {
        self.program.as_ref().err().map(String::as_str)
    }

    fn echo(&self) -> Option<Echo> {
        self.echo.then(Echo::stderr)
    }
}

impl Actor for Command {
    fn executor(&self) -> Executor {
        match &self.program {
            Ok(program) => Executor::Ready {
                digest: Some(program.digest()),
                types: self.types.clone(),
                actions: self.actions.clone(),
            },
            Err(why) => Executor::Missing(why.clone()),
        }
    }

    fn seal(&mut self) -> Result<Identity, String> {
        let (sealed, identity) = self.program.as_ref()?.sealed().map_err(|e| e.to_string())?;
        self.sealed = Some(sealed);
        Ok(identity)
    }

    fn identity(&self) -> Result<Identity, String> {
        self.program.as_ref()?.look().map_err(|e| e.to_string())
    }

    fn act(&mut self, claim: Claim, handed: &Handed<'_>) -> (Acted, Returned) {
        let env = act_environment(&claim, handed);
        let program = match (&claim.grant().executor_bound, &self.program, &self.sealed) {
            (None, Ok(program), _) | (Some(_), _, Some(program)) => program,
            // A permit is only given for a program that was found, and was sealed if it must be.
            (_, Err(why), _) => return (claim.act(), not_started(why.clone())),
            _ => return (claim.act(), not_started("it was not sealed".into())),
        };
        let limits = Limits { timeout: handed.request.timeout };
        let begun = clock::since_boot();
        let (acted, run) = granted_exec::run(claim, program, &env, limits, &self.stop, self.echo());
        let check = match run.ended {
            Ended::Exit(0) if program.has_confirm() => {
                let spent = clock::since_boot().saturating_sub(begun);
                let left = limits.timeout.saturating_sub(spent);
                let confirm =
                    granted_exec::confirm(&acted, program, &env, left, &self.stop, self.echo());
                let confirmed = confirm.is_some_and(|confirm| confirm.ended == Ended::Exit(0));
                Some(if confirmed { Check::Confirmed } else { Check::NotConfirmed })
            }
            _ => None,
        };
        let returned = Returned::Program {
            ended: run.ended,
            stdout: run.stdout,
            stderr: run.stderr,
            remark: run.detail,
            check,
        };
        (acted, returned)
    }
}

/// Refuses a shell command whose first word is the path of no program: a typo, another directory than
/// was meant or a forgotten `chmod` is to spend no grant. What the shell would expand is left to it.
fn check_first_word(command: &OsStr, cwd: &Path) -> Result<(), String> {
    let text = command.to_string_lossy();
    let word = text.split_whitespace().next().unwrap_or_default();
    let plain = |c: char| c.is_alphanumeric() || "/._-+@%,:".contains(c);
    let is_path = word.contains('/') && word.chars().all(plain);
    if !is_path {
        return Ok(());
    }
    let path = cwd.join(word);
    let wrong = match path.metadata() {
        Err(e) => in_words(&e),
        Ok(found) if found.is_dir() => "it is a directory".to_owned(),
        Ok(_) if access(&path, Access::EXEC_OK).is_err() => "it is not executable".to_owned(),
        Ok(_) => return Ok(()),
    };
    match word.starts_with('/') {
        true => Err(format!("`{word}`: {wrong}")),
        false => Err(format!("`{word}` in {}: {wrong}", cwd.display())),
    }
}

fn not_started(why: String) -> Returned {
    let nothing = granted_core::decision::Tail { bytes: 0, tail: "".into() };
    let (stdout, stderr) = (nothing.clone(), nothing);
    Returned::Program { ended: Ended::NotStarted, stdout, stderr, remark: why, check: None }
}

fn unregistered<'a>(name: &Name, registered: impl IntoIterator<Item = &'a Name>) -> String {
    let names: Vec<String> = registered.into_iter().map(|name| format!("`{name}`")).collect();
    match names.is_empty() {
        true => format!("no executor `{name}` is registered; config.toml has none"),
        false => {
            format!("no executor `{name}` is registered; there are {}", names.join(", "))
        }
    }
}

fn prepare(name: &Name, entry: &ExecutorEntry) -> Result<Program, String> {
    let path: OsString = entry.path.as_deref().unwrap_or(DEFAULT_PATH).into();
    let cwd = entry.cwd.clone().unwrap_or_else(default_cwd);
    let texts = |argv: &Vec<String>| argv.iter().map(OsString::from).collect::<Vec<_>>();
    let definition = Definition {
        name: name.clone(),
        argv: texts(&entry.argv),
        cwd,
        env: environment(&path, &entry.env),
        asks: entry.env.clone(),
        path,
        files: entry.files.clone(),
        confirm: entry.confirm.as_ref().map(texts),
    };
    Program::prepare(definition).map_err(|e| e.to_string())
}

/// Where a program runs whose entry does not say: the person's home.
pub(crate) fn default_cwd() -> PathBuf {
    PathBuf::from(home::var("HOME").unwrap_or_else(|| "/".into()))
}

/// What every program is passed, and the variables that its entry names.
pub(crate) fn environment(path: &OsString, named: &[String]) -> Vec<(OsString, OsString)> {
    let always = ["HOME", "LANG", "TZ", "TMPDIR"].map(String::from);
    let names: Vec<String> = always.into_iter().chain(named.iter().cloned()).collect();
    let passed = home::vars(&names, &["LC_"]).into_iter().filter(|(name, _)| name != "PATH");
    passed.chain([("PATH".into(), path.clone())]).collect()
}

/// What the executor of this act is told.
fn act_environment(claim: &Claim, handed: &Handed<'_>) -> Vec<(OsString, OsString)> {
    let grant = claim.grant();
    let name = DocumentName::new(&grant.object, grant.id);
    let book = handed.book;
    let mut env: Vec<(&str, OsString)> = vec![
        ("GRANTED_OBJECT_TYPE", grant.object.r#type.as_str().into()),
        ("GRANTED_OBJECT_ID", grant.object.id.as_str().into()),
        ("GRANTED_DISCHARGE_ID", claim.discharge().to_string().into()),
        ("GRANTED_GRANT_PATH", book.documents.path(&name).into()),
        ("GRANTED_LEDGER", book.home().ledger().into()),
        ("GRANTED_NOT_AFTER", grant.not_after.to_string().into()),
        ("GRANTED_HOME", book.home().root().into()),
        ("GRANTED_STORE", book.home().documents().into()),
        ("GRANTED_RESULT_TOKEN", handed.token.into()),
    ];
    if let Some(action) = &handed.request.action {
        env.push(("GRANTED_ACTION", action.as_str().into()));
    }
    env.into_iter().map(|(name, value)| (name.into(), value)).collect()
}

/// A closure's hold on the act that it carries out.
#[derive(Debug, Default)]
pub struct Act {
    result: Option<(bool, Option<Json>)>,
}

impl Act {
    /// Writes the act's result: whether it succeeded, and the evidence. Without one, what was done
    /// is uncertain. The last one counts.
    pub fn result(&mut self, ok: bool, receipt: Option<Json>) {
        self.result = Some((ok, receipt));
    }
}

/// A closure as executor.
pub struct Closure<F>(Option<F>);

impl<F: FnOnce(&Grant, &mut Act) -> Verdict> Closure<F> {
    /// Calls this once, if the claim is made.
    pub fn new(closure: F) -> Closure<F> {
        Closure(Some(closure))
    }
}

impl<F: FnOnce(&Grant, &mut Act) -> Verdict> Actor for Closure<F> {
    fn executor(&self) -> Executor {
        Executor::Ready { digest: None, types: Vec::new(), actions: Vec::new() }
    }

    fn seal(&mut self) -> Result<Identity, String> {
        self.identity()
    }

    fn identity(&self) -> Result<Identity, String> {
        Err("the grant is bound to a program, and a closure is none".into())
    }

    fn act(&mut self, claim: Claim, _: &Handed<'_>) -> (Acted, Returned) {
        let mut act = Act::default();
        let acted = claim.act();
        let verdict = match self.0.take() {
            None => Verdict::Failed("the closure was called before".into()),
            Some(closure) => catch_unwind(AssertUnwindSafe(|| closure(acted.grant(), &mut act)))
                .unwrap_or_else(|_| Verdict::Failed("it panicked".into())),
        };
        (acted, Returned::Closure { verdict, result: act.result })
    }
}
