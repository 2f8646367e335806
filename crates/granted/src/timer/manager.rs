//! The person's service manager, asked through `systemctl --user`.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::time::Duration;

use granted_core::time::Stamp;
use granted_exec::ask;

use super::{Timer, TimerError};

/// How long `systemctl` may take.
const LIMIT: Duration = Duration::from_secs(30);

/// What `systemctl --user` printed; refused if it says so, or if it does not answer.
pub(super) fn systemctl(args: &[&str]) -> Result<String, TimerError> {
    let told = [&["--user"], args].concat();
    let refused = |why| TimerError::Refused(args.join(" "), why);
    let answer = ask("systemctl", &told, LIMIT).map_err(|e| match e.kind() {
        ErrorKind::TimedOut => refused(format!("no answer within {}s", LIMIT.as_secs())),
        _ => TimerError::NoManager(missing(&e)),
    })?;
    match answer.ok {
        true => Ok(answer.stdout),
        false => Err(refused(first_line(&answer.stderr))),
    }
}

/// Refuses where there is no manager to talk to.
pub(super) fn check() -> Result<(), TimerError> {
    systemctl(&["show", "--property=Version"]).map(drop).map_err(|e| match e {
        TimerError::Refused(_, why) => TimerError::NoManager(why),
        other => other,
    })
}

/// Has a timer tick no more, now and after the next start of the manager. Its units stay.
pub(crate) fn disable(timer: &Timer) -> Result<(), TimerError> {
    systemctl(&["disable", "--now", &timer.unit(".timer")]).map(drop)
}

/// The properties of a unit, by name; those without a value are left out.
pub(super) fn show(unit: &str, names: &[&str]) -> Result<HashMap<String, String>, TimerError> {
    let property = format!("--property={}", names.join(","));
    let text = systemctl(&["show", &property, unit])?;
    let lines = text.lines().filter_map(|line| line.split_once('='));
    let set = lines.filter(|(_, value)| !value.is_empty());
    Ok(set.map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
}

/// An instant as it is shown: `Mon 2026-11-30 13:15:00 UTC`.
pub(super) fn stamp(text: &str) -> Option<Stamp> {
    let mut words = text.split(' ').skip(1);
    let (day, time) = (words.next()?, words.next()?);
    (words.next()? == "UTC").then(|| Stamp::parse(&format!("{day}T{time}Z")).ok()).flatten()
}

fn missing(error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "there is no `systemctl`".into(),
        _ => format!("`systemctl`: {error}"),
    }
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or("it failed without a word").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_is_read_in_utc_only() {
        let read = stamp("Mon 2026-11-30 13:15:00 UTC").unwrap();
        assert_eq!(read, Stamp::parse("2026-11-30T13:15:00Z").unwrap());
        for none in ["", "n/a", "Mon 2026-11-30 13:15:00 CET", "2026-11-30 13:15:00 UTC"] {
            assert_eq!(stamp(none), None, "{none}");
        }
    }
}
