//! What a row of a write does to a subject.

/// What a row of a write does to a subject. Times are microseconds, other subjects their hashes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The change set waits for the person.
    Staged {
        /// What is proposed.
        proposal: u64,
        /// Until when it can be approved, exclusive.
        closes: i64,
        /// The day of its agent (0: none).
        day: u64,
    },
    /// The change set was refused when it was filed.
    Refused,
    /// The change set was claimed at once.
    Claimed,
    /// The person approved the change set.
    Approved {
        /// What is approved.
        proposal: u64,
        /// When.
        at: i64,
    },
    /// The files are as they were to be.
    Applied {
        /// Whether it was cut off before.
        recovered: bool,
        /// The day that the row moves (0: none).
        day: u64,
    },
    /// The files are as they were.
    Undone,
    /// Some file is neither.
    Unresolved,
    /// The person rejected the change set.
    Rejected {
        /// The day that the row moves (0: none).
        day: u64,
    },
    /// The change set was not approved in time.
    Expired {
        /// When it could be approved no more.
        closed: i64,
        /// The day that the row moves (0: none).
        day: u64,
    },
    /// The day of an agent.
    Day,
    /// The direct grants of a project.
    Project,
    /// The direct grant was signed.
    Granted {
        /// For which agent, in which project.
        who: u64,
        /// The end, exclusive.
        closes: i64,
        /// How many files may be written.
        files: u64,
    },
    /// The same row's project.
    GrantedIn {
        /// The project.
        project: u64,
    },
    /// The direct grant was taken back.
    Revoked {
        /// The project that the row moves.
        project: u64,
    },
    /// A change set claims so many files of the direct grant.
    Drawn {
        /// By which agent, in which project.
        who: u64,
        /// When.
        at: i64,
        /// How many.
        files: u64,
    },
    /// The dispatch was issued.
    Issued {
        /// For which agent, in which project.
        who: u64,
        /// The end, exclusive.
        closes: i64,
        /// How many change sets it is good for.
        uses: u64,
        /// Whether it is narrow enough for direct writes.
        narrow: bool,
    },
    /// A change set was filed with the dispatch.
    Used {
        /// By which agent, in which project.
        who: u64,
        /// When.
        at: i64,
        /// Whether it was claimed at once.
        direct: bool,
    },
    /// A change set that named the dispatch was refused.
    Attempted,
}

impl Step {
    /// The step as a code and three words.
    pub(in super::super) fn to_words(self) -> (u8, u64, u64, u64) {
        match self {
            Step::Staged { proposal, closes, day } => (64, proposal, closes.cast_unsigned(), day),
            Step::Refused => (65, 0, 0, 0),
            Step::Claimed => (66, 0, 0, 0),
            Step::Approved { proposal, at } => (67, proposal, at.cast_unsigned(), 0),
            Step::Applied { recovered, day } => (68, recovered.into(), day, 0),
            Step::Undone => (69, 0, 0, 0),
            Step::Unresolved => (70, 0, 0, 0),
            Step::Rejected { day } => (71, day, 0, 0),
            Step::Expired { closed, day } => (72, closed.cast_unsigned(), day, 0),
            Step::Day => (73, 0, 0, 0),
            Step::Project => (74, 0, 0, 0),
            Step::Granted { who, closes, files } => (75, who, closes.cast_unsigned(), files),
            Step::GrantedIn { project } => (76, project, 0, 0),
            Step::Revoked { project } => (77, project, 0, 0),
            Step::Drawn { who, at, files } => (78, who, at.cast_unsigned(), files),
            Step::Issued { who, closes, uses, narrow } => {
                (79 + u8::from(narrow), who, closes.cast_unsigned(), uses)
            }
            Step::Used { who, at, direct } => (81, who, at.cast_unsigned(), direct.into()),
            Step::Attempted => (82, 0, 0, 0),
        }
    }

    /// The step of such words.
    pub(in super::super) fn from_words(code: u8, a: u64, b: u64, c: u64) -> Option<Step> {
        Some(match code {
            64 => Step::Staged { proposal: a, closes: b.cast_signed(), day: c },
            65 => Step::Refused,
            66 => Step::Claimed,
            67 => Step::Approved { proposal: a, at: b.cast_signed() },
            68 => Step::Applied { recovered: a != 0, day: b },
            69 => Step::Undone,
            70 => Step::Unresolved,
            71 => Step::Rejected { day: a },
            72 => Step::Expired { closed: a.cast_signed(), day: b },
            73 => Step::Day,
            74 => Step::Project,
            75 => Step::Granted { who: a, closes: b.cast_signed(), files: c },
            76 => Step::GrantedIn { project: a },
            77 => Step::Revoked { project: a },
            78 => Step::Drawn { who: a, at: b.cast_signed(), files: c },
            79 | 80 => {
                Step::Issued { who: a, closes: b.cast_signed(), uses: c, narrow: code == 80 }
            }
            81 => Step::Used { who: a, at: b.cast_signed(), direct: c != 0 },
            82 => Step::Attempted,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_survives_its_words() {
        let max = u64::MAX;
        for step in [
            Step::Staged { proposal: max, closes: -1, day: 3 },
            Step::Refused,
            Step::Claimed,
            Step::Approved { proposal: max, at: i64::MIN },
            Step::Applied { recovered: true, day: max },
            Step::Applied { recovered: false, day: 0 },
            Step::Undone,
            Step::Unresolved,
            Step::Rejected { day: max },
            Step::Expired { closed: -7, day: max },
            Step::Day,
            Step::Project,
            Step::Granted { who: max, closes: -1, files: 500 },
            Step::GrantedIn { project: max },
            Step::Revoked { project: max },
            Step::Drawn { who: max, at: -2, files: 64 },
            Step::Issued { who: max, closes: -3, uses: 10, narrow: true },
            Step::Issued { who: max, closes: -3, uses: 10, narrow: false },
            Step::Used { who: max, at: -4, direct: true },
            Step::Used { who: max, at: -4, direct: false },
            Step::Attempted,
        ] {
            let (code, a, b, c) = step.to_words();
            assert_eq!(Step::from_words(code, a, b, c), Some(step));
        }
        assert_eq!(Step::from_words(63, 0, 0, 0), None);
        assert_eq!(Step::from_words(83, 0, 0, 0), None);
    }
}
