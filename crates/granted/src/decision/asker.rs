//! The one who asks for an attempt, as far as the attempt depends on it while it is under way.

use std::convert::Infallible;

/// What an attempt is about to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Wait a little for another attempt that has the same key.
    Wait,
    /// Record a refusal.
    Refusal,
    /// Claim the grant. From then on the attempt ends with an outcome, whatever the asker wants.
    Claim,
}

/// Is asked before each [`Step`] whether to go on.
pub trait Asker {
    /// Why it leaves.
    type Left;

    /// An error ends the attempt without a row.
    fn before(&self, step: Step) -> Result<(), Self::Left>;
}

/// Stays to the end.
pub struct Patient;

impl Asker for Patient {
    type Left = Infallible;

    fn before(&self, _: Step) -> Result<(), Infallible> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use granted_core::decision::conclude::Verdict;
    use granted_core::decision::discharge::Request;
    use granted_core::decision::mint::Terms;
    use granted_core::ledger::Door;
    use granted_core::store::Ledger as _;
    use granted_core::time::Clock as _;
    use granted_testkit::{FixedClock, MemoryDocuments, MemoryLedger, sample};

    use super::*;
    use crate::book::Book;
    use crate::decision::actor::Closure;
    use crate::decision::discharge::attempt;
    use crate::decision::mint::mint;
    use crate::decision::stage::terms;
    use crate::home::Home;

    /// Leaves before this step.
    struct Leaves(Step);

    impl Asker for Leaves {
        type Left = Step;

        fn before(&self, step: Step) -> Result<(), Step> {
            if step == self.0 { Err(step) } else { Ok(()) }
        }
    }

    #[test]
    fn who_leaves_in_time_leaves_no_row() {
        let dir = tempfile::tempdir().unwrap();
        let clock = Arc::new(FixedClock::default());
        let ledger = Arc::new(MemoryLedger::new(clock.clone()));
        let documents = Arc::new(MemoryDocuments::default());
        let home = Home::at(dir.path());
        let book = Book::with(home, Door::Mcp, ledger.clone(), documents, clock.clone());
        let terms = Terms {
            not_after: clock.now().plus(Duration::from_secs(90)),
            object: sample::object(1),
            ..terms(&clock)
        };
        mint(&book, &[terms]).unwrap();
        let before = ledger.head().unwrap();
        for (object, step) in [(1, Step::Claim), (2, Step::Refusal)] {
            let request = Request {
                object: sample::object(object),
                ..Request::new("report", "x", "closure").unwrap()
            };
            let mut closure = Closure::new(|_, _| -> Verdict { panic!("it acted") });
            assert_eq!(attempt(&book, &request, &mut closure, &Leaves(step)).unwrap_err(), step);
            assert_eq!(ledger.head().unwrap(), before);
        }
    }
}
