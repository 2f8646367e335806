//! Samples of named works, taken in turns.

use std::time::Instant;

use serde_json::{Value, json};

/// How long something took, in microseconds.
pub fn timed<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let began = Instant::now();
    let done = work();
    (began.elapsed().as_secs_f64() * 1e6, done)
}

/// A work with its name.
pub type Named<'a> = (&'a str, Box<dyn FnMut(usize) + 'a>);

/// Does each of these so often, in turns, so that all meet the same load; every other time in the
/// opposite order, so that none always follows the same other.
pub fn in_turns(count: usize, works: &mut [Named<'_>]) -> Value {
    let mut samples = vec![Vec::with_capacity(count); works.len()];
    for turn in 0..count {
        for place in 0..works.len() {
            let which = if turn % 2 == 0 { place } else { works.len() - 1 - place };
            samples[which].push(timed(|| works[which].1(turn)).0);
        }
    }
    let named = works.iter().zip(samples).map(|((name, _), samples)| (*name, json!(samples)));
    Value::Object(named.map(|(name, samples)| (name.to_owned(), samples)).collect())
}
