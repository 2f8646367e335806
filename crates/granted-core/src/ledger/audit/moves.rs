//! What one row does to one subject, in 48 bytes.

use std::hash::Hasher;

use super::spend;
use crate::decision::{Object, REASONS, Reason};
use crate::ledger::Subject;

/// How many bytes [`Move::to_bytes`] writes.
pub const MOVE_BYTES: usize = 48;

/// One row moves one subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// The subject's hash.
    pub subject: u64,
    /// The number of the row, at most 2^53 − 1.
    pub seq: u64,
    /// The number of the row that moved the subject before, as the row's `refs` have it; 0: none.
    pub before: u64,
    /// What the row does to it.
    pub step: Step,
}

/// What a row does to a subject. Times are microseconds, other subjects their hashes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A grant was minted for this object.
    Object,
    /// The grant was minted.
    Minted {
        /// Whether it may be used more than once.
        session: bool,
        /// The window's beginning, inclusive.
        opens: i64,
        /// The window's end, exclusive.
        closes: i64,
        /// What it is about.
        object: u64,
    },
    /// An attempt claims the grant.
    Claimed {
        /// The attempt.
        discharge: u64,
        /// The claim's time.
        at: i64,
        /// What the attempt is about.
        object: u64,
    },
    /// The attempt that holds the grant ended.
    Settled {
        /// The attempt.
        discharge: u64,
        /// How.
        reason: Reason,
    },
    /// The grant's window closed without its being spent.
    Expired {
        /// The row's time.
        at: i64,
        /// How often the grant had been discharged, as the row has it.
        uses: u64,
    },
    /// The person took the grant back.
    Revoked,
    /// A damaged tail that names the grant was accepted.
    Closed,
    /// The attempt claims a grant.
    Intent {
        /// The grant.
        grant: u64,
        /// What the attempt is about.
        object: u64,
    },
    /// Something came back from the act.
    Result {
        /// Whether the executor itself wrote the row.
        executor: bool,
        /// Whether it claims success.
        ok: bool,
        /// Whether it is the wrapper's word that the executor declined.
        declines: bool,
    },
    /// Something came back after the attempt was settled.
    Late,
    /// The attempt was refused before it claimed a grant.
    Turned {
        /// Why.
        reason: Reason,
    },
    /// The attempt ended after its claim.
    Outcome {
        /// The grant that the row moves.
        grant: u64,
        /// What the attempt was about.
        object: u64,
        /// Why it ended so.
        reason: Reason,
    },
    /// The person settled the attempt's uncertain outcome.
    Resolved,
    /// What the book trusts was changed.
    Trust,
    /// Trusted keys signed the grant that the row mints: a bit for each of the book's keys.
    Signed {
        /// The keys.
        keys: u64,
    },
    /// The row claims the grant where signatures are asked for.
    Asked {
        /// The keys that are trusted.
        keys: u64,
    },
    /// Of a spend.
    Spend(spend::Step),
}

impl Move {
    /// The move in [`MOVE_BYTES`] bytes, to be put aside and read back by this program.
    pub fn to_bytes(&self) -> [u8; MOVE_BYTES] {
        let (code, a, b, c) = self.step.to_words();
        let words = [self.subject, self.seq | u64::from(code) << 56, self.before, a, b, c];
        let mut bytes = [0; MOVE_BYTES];
        for (place, word) in bytes.chunks_exact_mut(8).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// Reads a move back; `None` for bytes that no move has.
    pub fn from_bytes(bytes: &[u8; MOVE_BYTES]) -> Option<Move> {
        let mut words = [0; 6];
        for (word, place) in words.iter_mut().zip(bytes.chunks_exact(8)) {
            *word = u64::from_le_bytes(place.try_into().ok()?);
        }
        let [subject, seq, before, a, b, c] = words;
        let step = Step::from_words(u8::try_from(seq >> 56).ok()?, a, b, c)?;
        Some(Move { subject, seq: seq & (u64::MAX >> 8), before, step })
    }
}

impl Step {
    fn to_words(self) -> (u8, u64, u64, u64) {
        match self {
            Step::Object => (1, 0, 0, 0),
            Step::Minted { session: false, opens, closes, object } => {
                (2, opens.cast_unsigned(), closes.cast_unsigned(), object)
            }
            Step::Minted { session: true, opens, closes, object } => {
                (3, opens.cast_unsigned(), closes.cast_unsigned(), object)
            }
            Step::Claimed { discharge, at, object } => (4, discharge, at.cast_unsigned(), object),
            Step::Settled { discharge, reason } => (5, discharge, index(reason), 0),
            Step::Expired { at, uses } => (6, at.cast_unsigned(), uses, 0),
            Step::Revoked => (7, 0, 0, 0),
            Step::Closed => (8, 0, 0, 0),
            Step::Intent { grant, object } => (9, grant, object, 0),
            Step::Result { executor, ok, declines } => {
                (10, executor.into(), ok.into(), declines.into())
            }
            Step::Late => (11, 0, 0, 0),
            Step::Turned { reason } => (12, index(reason), 0, 0),
            Step::Outcome { grant, object, reason } => (13, grant, object, index(reason)),
            Step::Resolved => (14, 0, 0, 0),
            Step::Trust => (15, 0, 0, 0),
            Step::Signed { keys } => (16, keys, 0, 0),
            Step::Asked { keys } => (17, keys, 0, 0),
            Step::Spend(step) => step.to_words(),
        }
    }

    fn from_words(code: u8, a: u64, b: u64, c: u64) -> Option<Step> {
        Some(match code {
            1 => Step::Object,
            2 | 3 => Step::Minted {
                session: code == 3,
                opens: a.cast_signed(),
                closes: b.cast_signed(),
                object: c,
            },
            4 => Step::Claimed { discharge: a, at: b.cast_signed(), object: c },
            5 => Step::Settled { discharge: a, reason: reason(b)? },
            6 => Step::Expired { at: a.cast_signed(), uses: b },
            7 => Step::Revoked,
            8 => Step::Closed,
            9 => Step::Intent { grant: a, object: b },
            10 => Step::Result { executor: a != 0, ok: b != 0, declines: c != 0 },
            11 => Step::Late,
            12 => Step::Turned { reason: reason(a)? },
            13 => Step::Outcome { grant: a, object: b, reason: reason(c)? },
            14 => Step::Resolved,
            15 => Step::Trust,
            16 => Step::Signed { keys: a },
            17 => Step::Asked { keys: a },
            _ => Step::Spend(spend::Step::from_words(code, a, b, c)?),
        })
    }
}

/// The reason's place in [`REASONS`].
fn index(reason: Reason) -> u64 {
    u64::from(reason as u8)
}

fn reason(index: u64) -> Option<Reason> {
    REASONS.get(usize::try_from(index).ok()?).copied()
}

/// The hash by which moves know a subject.
///
/// SipHash with fixed keys: two subjects of an honest ledger of ten million meet with a chance of
/// one in 300,000, and if two do, a good ledger is called bad, never the reverse of a lone grant:
/// one story told of two subjects breaks at the second mint or the first `refs`.
pub(super) fn hash(subject: &Subject) -> u64 {
    hash_parts(&[subject.as_str()])
}

/// The hash of the subject of an object.
pub(super) fn hash_object(object: &Object) -> u64 {
    hash_parts(&["object:", object.r#type.as_str(), "/", object.id.as_str()])
}

/// The hash of a text in parts.
pub(super) fn hash_parts(parts: &[&str]) -> u64 {
    let mut hasher = std::hash::DefaultHasher::new();
    for part in parts {
        hasher.write(part.as_bytes());
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_move_survives_its_bytes() {
        let (object, grant, discharge) = (u64::MAX, 7, u64::MAX - 1);
        let mut steps = vec![
            Step::Object,
            Step::Minted { session: false, opens: i64::MIN, closes: -1, object },
            Step::Minted { session: true, opens: 0, closes: i64::MAX, object },
            Step::Claimed { discharge, at: -5, object },
            Step::Expired { at: 3, uses: u64::MAX },
            Step::Revoked,
            Step::Closed,
            Step::Intent { grant, object },
            Step::Late,
            Step::Resolved,
            Step::Trust,
            Step::Signed { keys: 1 << 63 },
            Step::Asked { keys: u64::MAX },
        ];
        for (executor, ok) in [(false, false), (false, true), (true, false), (true, true)] {
            for declines in [false, true] {
                steps.push(Step::Result { executor, ok, declines });
            }
        }
        for reason in REASONS {
            steps.push(Step::Settled { discharge, reason: *reason });
            steps.push(Step::Turned { reason: *reason });
            steps.push(Step::Outcome { grant, object, reason: *reason });
        }
        for step in steps {
            let full = Move { subject: u64::MAX, seq: crate::json::MAX_INT, before: 1, step };
            assert_eq!(Move::from_bytes(&full.to_bytes()), Some(full));
        }
        assert_eq!(Move::from_bytes(&[0; MOVE_BYTES]), None);
        assert_eq!(Move::from_bytes(&[255; MOVE_BYTES]), None);
    }

    #[test]
    fn an_object_has_one_hash() {
        let object = Object { id: "2026/09".parse().unwrap(), r#type: "report".parse().unwrap() };
        assert_eq!(hash(&Subject::object(&object)), hash_object(&object));
    }
}
