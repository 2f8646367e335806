//! How long agents waited for a person: the pure part of `granted lag`.

use std::fmt;
use std::time::Duration;

use serde::Deserialize;

use crate::time::Stamp;

/// Gathers the waits that a JSONL file tells, one `{"raised": ISO, "answered": ISO}` a line.
///
/// ```
/// let mut lag = granted_core::lag::Lag::default();
/// lag.line(r#"{"raised":"2026-09-01T08:00:00Z","answered":"2026-09-01T18:00:00Z"}"#);
/// lag.line(r#"{"raised":"2026-09-02T08:00:00Z","answered":null}"#);
/// let line = "n=1 open=1 bad=0 p50=10.0h p80=10.0h max=10.0h";
/// assert_eq!(lag.summary().to_string(), line);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Lag {
    answered_s: Vec<u64>,
    open: u64,
    bad: u64,
}

/// What the waits come to. Times are whole seconds, and absent where nothing was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Summary {
    /// How many were answered.
    pub n: u64,
    /// How many still wait.
    pub open: u64,
    /// How many lines say neither.
    pub bad: u64,
    /// The median wait of those answered.
    pub p50_s: Option<u64>,
    /// The wait that four in five did not exceed.
    pub p80_s: Option<u64>,
    /// The longest wait.
    pub max_s: Option<u64>,
}

/// One line; other members are the keeper's own affair.
#[derive(Deserialize)]
struct Ask {
    raised: Stamp,
    #[serde(default)]
    answered: Option<Stamp>,
}

impl Lag {
    /// Counts a line.
    ///
    /// Without an answer it is open. It is bad if it is no such JSON, a stamp has no zone, or the
    /// answer is earlier than the question. A blank line is nothing.
    pub fn line(&mut self, line: &str) {
        if line.trim().is_empty() {
            return;
        }
        // Serde reads a list as a struct too; here only an object will do.
        let object = if line.trim_start().starts_with('{') { line } else { "" };
        match serde_json::from_str(object) {
            Ok(Ask { answered: None, .. }) => self.open += 1,
            Ok(Ask { raised, answered: Some(answered) }) if raised <= answered => {
                self.answered_s.push(answered.since(raised).as_secs());
            }
            Ok(_) | Err(_) => self.bad += 1,
        }
    }

    /// The figures so far.
    pub fn summary(&self) -> Summary {
        let mut waits = self.answered_s.clone();
        waits.sort_unstable();
        Summary {
            n: u64::try_from(waits.len()).unwrap_or(u64::MAX),
            open: self.open,
            bad: self.bad,
            p50_s: nearest_rank(&waits, 50),
            p80_s: nearest_rank(&waits, 80),
            max_s: waits.last().copied(),
        }
    }
}

/// The smallest of the sorted values that at least `percent` in a hundred do not exceed.
fn nearest_rank(sorted: &[u64], percent: usize) -> Option<u64> {
    let rank = sorted.len().saturating_mul(percent).div_ceil(100);
    sorted.get(rank.checked_sub(1)?).copied()
}

impl fmt::Display for Summary {
    /// Writes `n=10 open=1 bad=1 p50=10.0h p80=72.0h max=240.0h`; a figure that is not there is `-`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Summary { n, open, bad, .. } = self;
        write!(f, "n={n} open={open} bad={bad}")?;
        for (name, figure) in [("p50", self.p50_s), ("p80", self.p80_s), ("max", self.max_s)] {
            match figure {
                None => write!(f, " {name}=-")?,
                Some(s) => {
                    write!(f, " {name}={:.1}h", Duration::from_secs(s).as_secs_f64() / 3_600.0)?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const RAISED: &str = "2026-09-01T00:00:00Z";

    fn lag_of<'a>(lines: impl IntoIterator<Item = &'a str>) -> Lag {
        let mut lag = Lag::default();
        lines.into_iter().for_each(|line| lag.line(line));
        lag
    }

    fn waited(seconds: u64) -> String {
        let answered = Stamp::parse(RAISED).unwrap().plus(Duration::from_secs(seconds));
        format!(r#"{{"raised":"{RAISED}","answered":"{answered}"}}"#)
    }

    #[test]
    fn the_line_of_the_documentation() {
        let mut lines: Vec<String> =
            [1, 2, 4, 8, 10, 24, 48, 72, 100, 240].iter().map(|h| waited(h * 3_600)).collect();
        lines.push(format!(r#"{{"raised":"{RAISED}"}}"#));
        lines.push(r#"{"raised":"2026-09-01T00:00:00","answered":null}"#.into());
        let lag = lag_of(lines.iter().map(String::as_str));
        assert_eq!(lag.summary().to_string(), "n=10 open=1 bad=1 p50=10.0h p80=72.0h max=240.0h");
    }

    #[test]
    fn with_no_answer_the_figures_are_dashes() {
        assert_eq!(
            lag_of(["", "  ", "\t"]).summary().to_string(),
            "n=0 open=0 bad=0 p50=- p80=- max=-"
        );
    }

    #[test]
    fn what_is_bad_and_what_is_open() {
        for bad in [
            "x",
            "null",
            "[]",
            "{}",
            r#"["2026-09-01T00:00:00Z","2026-09-01T00:00:00Z"]"#,
            r#"{"answered":"2026-09-01T00:00:00Z"}"#,
            r#"{"raised":null}"#,
            r#"{"raised":"2026-09-01T00:00:00"}"#,
            r#"{"raised":"2026-09-01T00:00:00Z","answered":"2026-09-01T00:00:01"}"#,
            r#"{"raised":"2026-09-01T00:00:00Z","answered":"2026-08-31T23:59:59Z"}"#,
            r#"{"raised":"2026-09-01T00:00:00Z","answered":""}"#,
            r#"{"raised":"2026-09-01T00:00:00Z","answered":5}"#,
            r#"{"raised":"2026-09-01T00:00:00Z"} {"#,
        ] {
            let summary = lag_of([bad]).summary();
            assert_eq!((summary.n, summary.open, summary.bad), (0, 0, 1), "{bad}");
        }
        for open in [
            r#"{"raised":"2026-09-01T02:00:00+02:00","answered":null}"#,
            r#"{"raised":"2026-09-01T00:00:00.5Z","who":"claude"}"#,
        ] {
            assert_eq!(lag_of([open]).summary().open, 1, "{open}");
        }
        let zones = r#"{"raised":"2026-09-01T02:00:00+02:00","answered":"2026-09-01T00:00:00Z"}"#;
        assert_eq!(lag_of([zones]).summary().max_s, Some(0));
    }

    proptest! {
        #[test]
        fn nearest_rank_is_the_first_value_that_covers_its_share(
            waits in prop::collection::vec(0_u64..10_000_000, 0..60),
        ) {
            let lines: Vec<String> = waits.iter().map(|s| waited(*s)).collect();
            let summary = lag_of(lines.iter().map(String::as_str)).summary();
            let naive = |percent: usize| {
                let covers = |value: &u64| {
                    waits.iter().filter(|w| *w <= value).count() * 100 >= waits.len() * percent
                };
                waits.iter().copied().filter(covers).min()
            };
            prop_assert_eq!(summary.n, waits.len() as u64);
            prop_assert_eq!(summary.p50_s, naive(50));
            prop_assert_eq!(summary.p80_s, naive(80));
            prop_assert_eq!(summary.max_s, waits.iter().copied().max());
        }

        #[test]
        fn any_line_counts_once(line in "\\PC*") {
            let summary = lag_of([line.as_str()]).summary();
            let counted = summary.n + summary.open + summary.bad;
            prop_assert_eq!(counted, u64::from(!line.trim().is_empty()));
        }
    }
}
