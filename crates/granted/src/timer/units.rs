//! The units of a timer, and the drop-in with what is particular to it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use granted_core::decision::Object;
use granted_core::text::{Name, for_shell};

use super::{Timer, TimerError};
use crate::home::{self, Home};

/// The name of the drop-in. A person's own have other names, and are left alone.
pub(super) const DROP_IN: &str = "granted.conf";

/// How each unit and drop-in of granted begins, and by what it is known.
pub(super) const MARK: &str = "# Written and removed by `granted timer`.";

const TICK: [(&str, &str); 2] = [
    ("granted-tick.service", include_str!("../../../../adapters/systemd/granted-tick.service")),
    ("granted-tick.timer", include_str!("../../../../adapters/systemd/granted-tick.timer")),
];

const DISCHARGE: [(&str, &str); 2] = [
    (
        "granted-discharge@.service",
        include_str!("../../../../adapters/systemd/granted-discharge@.service"),
    ),
    (
        "granted-discharge@.timer",
        include_str!("../../../../adapters/systemd/granted-discharge@.timer"),
    ),
];

/// What an attempt on an object names besides it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Errand {
    /// The executor, which the config registers.
    pub(crate) executor: Name,
    /// What for.
    pub(crate) action: Option<Name>,
    /// Who asks.
    pub(crate) agent: Option<Name>,
}

/// The program that a timer starts, and the places that it is told.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    path: PathBuf,
    places: Vec<(&'static str, PathBuf)>,
}

impl Program {
    /// This program, with this home.
    pub(crate) fn this(home: &Home) -> Result<Program, TimerError> {
        let path = std::env::current_exe()
            .map_err(|e| TimerError::File(format!("the path of this program: {e}")))?;
        let mut places = vec![("GRANTED_HOME", home.root().to_owned())];
        let usual = Home::at(home.root());
        for (name, place, usual) in [
            ("GRANTED_LEDGER", home.ledger(), usual.ledger()),
            ("GRANTED_STORE", home.documents(), usual.documents()),
        ] {
            if place != usual {
                places.push((name, place.to_owned()));
            }
        }
        Ok(Program { path, places })
    }

    /// The drop-in of a service.
    pub(super) fn drop_in(&self, errand: Option<&Errand>) -> Result<String, TimerError> {
        let path = plain(self.path.as_os_str())?;
        if path.contains(['"', '\'', '\\']) {
            let why = "systemd starts no program whose path holds a quote or a backslash";
            return Err(TimerError::Path { path: path.into(), why });
        }
        let mut words = vec![quoted(path)];
        match errand {
            None => words.push("tick".into()),
            Some(errand) => {
                words.extend(["timer", "run", "--object=%I"].map(String::from));
                let flags = flags(errand).into_iter();
                words.extend(flags.map(|(flag, name)| quoted(&format!("{flag}={name}"))));
            }
        }
        let mut text = format!("{MARK}\n[Service]\n");
        for (name, place) in &self.places {
            let set = format!("{name}={}", plain(place.as_os_str())?);
            text.push_str(&format!("Environment={}\n", quoted(&set)));
        }
        text.push_str(&format!("ExecStart=\nExecStart=:{}\n", words.join(" ")));
        Ok(text)
    }
}

/// The flags that an attempt has besides its object.
fn flags(errand: &Errand) -> Vec<(&'static str, &str)> {
    let optional = [("--action", &errand.action), ("--agent", &errand.agent)];
    let optional =
        optional.into_iter().filter_map(|(flag, name)| Some((flag, name.as_ref()?.as_str())));
    [("--executor", errand.executor.as_str())].into_iter().chain(optional).collect()
}

/// The folder of a person's own units.
pub(super) fn folder() -> Result<PathBuf, TimerError> {
    let config = match (home::var("XDG_CONFIG_HOME"), home::var("HOME")) {
        (Some(config), _) if Path::new(&config).is_absolute() => PathBuf::from(config),
        (_, Some(home)) => PathBuf::from(home).join(".config"),
        _ => return Err(TimerError::File("there is no home: set HOME".into())),
    };
    Ok(config.join("systemd/user"))
}

/// The units themselves, which the timers of all objects share: name and text.
pub(super) fn shared(timer: &Timer) -> [(&'static str, &'static str); 2] {
    match timer {
        Timer::Tick => TICK,
        Timer::Discharge(_) => DISCHARGE,
    }
}

/// The line of a crontab that does what the timer would.
pub(crate) fn crontab(
    program: &Program,
    object: Option<&Object>,
    errand: Option<&Errand>,
) -> String {
    let places = program.places.iter();
    let places =
        places.map(|(name, place)| format!("{name}={} ", for_shell(&place.to_string_lossy())));
    let granted = places.collect::<String>() + &for_shell(&program.path.to_string_lossy());
    let line = match (object, errand) {
        (Some(object), Some(errand)) => {
            let (kind, id) = (for_shell(object.r#type.as_str()), for_shell(object.id.as_str()));
            let of = format!("--type={kind} --id={id}");
            let flags = flags(errand).into_iter();
            let flags = flags.map(|(flag, name)| format!(" {flag}={}", for_shell(name)));
            let flags: String = flags.collect();
            format!("{granted} status {of} >/dev/null && {granted} discharge {of}{flags}")
        }
        _ => format!("{granted} tick"),
    };
    // cron takes a bare `%` as the end of the line.
    format!("*/15 * * * * {}", line.replace('%', "\\%"))
}

/// A text as one word of a unit's line, in which nothing is expanded.
fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%");
    format!("\"{escaped}\"")
}

/// A path that can stand in a unit.
fn plain(path: &OsStr) -> Result<&str, TimerError> {
    let text = path.to_str().filter(|text| !text.chars().any(char::is_control));
    text.ok_or_else(|| TimerError::Path {
        path: path.to_string_lossy().into_owned(),
        why: "a unit holds UTF-8 without control characters only",
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt as _;

    use super::*;

    fn program(path: &str, home: &str) -> Program {
        Program { path: path.into(), places: vec![("GRANTED_HOME", home.into())] }
    }

    fn errand() -> Errand {
        let name = |text: &str| Name::new(text).unwrap();
        Errand { executor: name("a b\"%\\"), action: Some(name("send")), agent: None }
    }

    #[test]
    fn a_drop_in_names_everything_whole() {
        let text = program("/opt/a b%/granted", "/x y/$Z\"").drop_in(Some(&errand())).unwrap();
        assert_eq!(
            text,
            "# Written and removed by `granted timer`.\n[Service]\n\
             Environment=\"GRANTED_HOME=/x y/$Z\\\"\"\nExecStart=\n\
             ExecStart=:\"/opt/a b%%/granted\" timer run --object=%I \
             \"--executor=a b\\\"%%\\\\\" \"--action=send\"\n"
        );
        let text = program("/g", "/h").drop_in(None).unwrap();
        assert!(text.ends_with("\nExecStart=:\"/g\" tick\n"), "{text}");
    }

    #[test]
    fn every_unit_can_be_known() {
        for (name, text) in TICK.into_iter().chain(DISCHARGE) {
            assert!(text.starts_with(MARK), "{name}");
        }
    }

    #[test]
    fn what_cannot_stand_in_a_unit_is_refused() {
        for path in ["/a\"b", "/a'b", "/a\\b", "/a\nb"] {
            assert!(program(path, "/h").drop_in(None).is_err(), "{path}");
        }
        assert!(program("/g", "/a\nb").drop_in(None).is_err());
        let bytes = Path::new(OsStr::from_bytes(b"/\xff"));
        let places = vec![("GRANTED_HOME", bytes.to_owned())];
        assert!(Program { path: "/g".into(), places }.drop_in(None).is_err());
    }

    #[test]
    fn a_crontab_line_is_quoted_for_the_shell_and_for_cron() {
        let object: Object = "report/it's 5%".parse().unwrap();
        let program = program("/bin/granted", "/h");
        let of = "--type=report --id='it'\\''s 5\\%'";
        assert_eq!(
            crontab(&program, Some(&object), Some(&errand())),
            format!(
                "*/15 * * * * GRANTED_HOME=/h /bin/granted status {of} >/dev/null && \
                 GRANTED_HOME=/h /bin/granted discharge {of} --executor='a b\"\\%\\' --action=send"
            )
        );
        assert_eq!(crontab(&program, None, None), "*/15 * * * * GRANTED_HOME=/h /bin/granted tick");
    }
}
