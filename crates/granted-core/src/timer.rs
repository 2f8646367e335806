//! Timers: when one has nothing left to ask, and what the unit of an object is called.

use std::fmt;

use crate::decision::{Object, Reason};

/// Whether a timer that discharges an object stops after an attempt with this reason.
///
/// It goes on only where a later attempt may find something else with nobody's help, or with the
/// help of a person who mends the ledger or the clock.
pub fn stops(reason: Reason) -> bool {
    !matches!(
        reason,
        Reason::NotYet
            | Reason::ExecutorDeclined
            | Reason::ClaimLost
            | Reason::LedgerUnwritable
            | Reason::LedgerRolledBack
            | Reason::ClockBehind
    )
}

/// What stands before the instance in the name of a unit.
pub const TEMPLATE: &str = "granted-discharge@";

/// The most bytes of a file's name, and so of a unit's with `.service.d` behind it.
const MAX_NAME: usize = 255;

/// An object as the instance of a unit: `TYPE/ID` as `systemd-escape` writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance(Box<str>);

/// The name of the object's unit would be longer than a file's name may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the unit's name would have {length} bytes, and systemd allows {MAX_NAME}")]
pub struct TooLong {
    /// The bytes that it would have.
    length: usize,
}

impl Instance {
    /// The instance of this object.
    pub fn of(object: &Object) -> Result<Instance, TooLong> {
        let text = format!("{}/{}", object.r#type.as_str(), object.id.as_str());
        let mut escaped = String::new();
        for (at, byte) in text.bytes().enumerate() {
            match byte {
                b'/' => escaped.push('-'),
                // A name that begins with a dot would be a hidden file's.
                b'.' if at > 0 => escaped.push('.'),
                b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b':' | b'_' => {
                    escaped.push(char::from(byte));
                }
                _ => escaped.push_str(&format!("\\x{byte:02x}")),
            }
        }
        let instance = Instance(escaped.into());
        match instance.unit(".service.d").len() {
            length if length > MAX_NAME => Err(TooLong { length }),
            _ => Ok(instance),
        }
    }

    /// The object of this instance; `None` if it stands for none.
    pub fn object(&self) -> Option<Object> {
        let mut bytes = Vec::new();
        let mut rest = self.0.chars();
        while let Some(character) = rest.next() {
            match character {
                '-' => bytes.push(b'/'),
                '\\' => {
                    let code: String = rest.by_ref().take(3).collect();
                    let digits = code.strip_prefix('x').filter(|digits| digits.len() == 2)?;
                    bytes.push(u8::from_str_radix(digits, 16).ok()?);
                }
                other => bytes.extend(other.encode_utf8(&mut [0; 4]).bytes()),
            }
        }
        let object: Object = String::from_utf8(bytes).ok()?.parse().ok()?;
        // One that is written in another way than ours is another unit.
        (Instance::of(&object).as_ref() == Ok(self)).then_some(object)
    }

    /// The instance in the name of a unit, or of what belongs to one, with this ending.
    pub fn in_unit(name: &str, ending: &str) -> Option<Instance> {
        let instance = name.strip_prefix(TEMPLATE)?.strip_suffix(ending)?;
        Some(Instance(instance.into()))
    }

    /// The name of the unit with this ending, such as `.timer`.
    pub fn unit(&self, ending: &str) -> String {
        format!("{TEMPLATE}{self}{ending}")
    }
}

impl fmt::Display for Instance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decision::{Class, REASONS};

    #[test]
    fn a_timer_stops_for_good_reasons_only() {
        let goes_on: Vec<&str> = REASONS
            .iter()
            .filter(|reason| !stops(**reason))
            .map(|reason| reason.as_str())
            .collect();
        assert_eq!(
            goes_on,
            [
                "not_yet",
                "claim_lost",
                "executor_declined",
                "ledger_unwritable",
                "ledger_rolled_back",
                "clock_behind"
            ]
        );
        for reason in REASONS {
            assert!(stops(*reason) || reason.class() == Class::Refused, "{reason}");
        }
    }

    fn instance(text: &str) -> Result<Instance, TooLong> {
        Instance::of(&text.parse().unwrap())
    }

    #[test]
    fn an_instance_stands_for_one_object() {
        for (object, escaped) in [
            ("report/a", "report-a"),
            ("a-b/c/d", "a\\x2db-c-d"),
            ("report/a-b\\x2f c", "report-a\\x2db\\x5cx2f\\x20c"),
            (".a/.b:_", "\\x2ea-.b:_"),
            ("x/é%h", "x-\\xc3\\xa9\\x25h"),
        ] {
            let instance = instance(object).unwrap();
            assert_eq!(instance.to_string(), escaped);
            assert_eq!(instance.object().unwrap().to_string(), object);
            let name = instance.unit(".timer");
            assert_eq!(Instance::in_unit(&name, ".timer"), Some(instance));
        }
        for none in
            ["", "a", "a-", "-b", "a-\\x2", "a-\\xzz", "a-\\x00", "a-\\x+1", "a-\\x61", "a-é"]
        {
            assert_eq!(Instance(none.into()).object(), None, "{none}");
        }
    }

    #[test]
    fn a_name_fits_into_a_file_s() {
        let longest = format!("x/{}", "a".repeat(225));
        assert_eq!(instance(&longest).unwrap().unit(".service.d").len(), 255);
        assert_eq!(instance(&format!("{longest}a")), Err(TooLong { length: 256 }));
    }
}
