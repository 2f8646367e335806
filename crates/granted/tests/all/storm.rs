//! Random kills of a busy loop of mints and discharges.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use serde_json::Value;

use crate::crowd::{lines, said, start, start_discharge};
use crate::home::{Home, Run};

/// A sequence of numbers that is the same for the same seed.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound
    }
}

/// Mints and discharges, each killed after a moment, until so many were started. What was
/// acknowledged: the id of each grant and attempt with what was said of it.
fn busy_loop(home: &Home, seed: u64, kills: usize) -> HashMap<String, String> {
    let (mut numbers, mut acknowledged) = (Numbers(seed), HashMap::new());
    let mut minted = 0;
    for _ in 0..kills {
        let discharges = numbers.below(2) == 0 && minted > 0;
        let id = match discharges {
            true => format!("{seed}-{}", numbers.below(minted)),
            false => {
                minted += 1;
                format!("{seed}-{}", minted - 1)
            }
        };
        let mint = ["mint", "--type", "report", "--id", &id, "--by", "me", "--for", "1h", "--json"];
        let exec = "echo x >> effects/$GRANTED_OBJECT_ID";
        let mut child = match discharges {
            true => start_discharge(home, &id, exec, &[]),
            false => start(home, &mint),
        };
        // The moment is the test: it is not waited for anything.
        std::thread::sleep(Duration::from_micros(numbers.below(30_000)));
        child.kill().unwrap();
        let run: Run = child.wait_with_output().unwrap().into();
        if let Ok(answer) = serde_json::from_str::<Value>(&run.stdout) {
            let text = |value: &Value| value.as_str().unwrap().to_owned();
            match discharges {
                true => acknowledged.insert(text(&answer["discharge_id"]), said(&answer)),
                false => acknowledged.insert(text(&answer["grant"]["id"]), "minted".into()),
            };
        }
    }
    acknowledged
}

/// What the ledger says of each grant and attempt.
fn recorded(home: &Home) -> HashMap<String, String> {
    let mut recorded = HashMap::new();
    for row in home.rows() {
        let owner = row["refs"][0][0].as_str().unwrap_or_default();
        let (_, id) = owner.split_once(':').unwrap_or_default();
        match row["kind"].as_str().unwrap() {
            "decision.minted" => recorded.insert(id.to_owned(), "minted".into()),
            "decision.outcome" => recorded.insert(id.to_owned(), said(&row["body"])),
            _ => None,
        };
    }
    recorded
}

#[test]
#[expect(clippy::print_stdout, reason = "shown where the test fails")]
fn random_kills_lose_nothing_and_double_nothing() {
    let home = Home::new();
    std::fs::create_dir(home.dir().join("effects")).unwrap();
    home.mint("first", "");
    let mut all = HashMap::new();
    // Two loops at once, so that the dying meet the living at the lock.
    for round in 0..10 {
        let seeds = [2 * round, 2 * round + 1];
        println!("seeds {seeds:?}");
        std::thread::scope(|scope| {
            let home = &home;
            let loops = seeds.map(|seed| scope.spawn(move || busy_loop(home, seed, 25)));
            all.extend(loops.into_iter().flat_map(|ended| ended.join().unwrap()));
        });
        home.verify();
    }
    // The executors of the killed may run on; after this they have no more to do.
    home.say("tick").ok();
    let recorded = recorded(&home);
    for (id, said) in &all {
        assert_eq!(recorded.get(id), Some(said), "{id} was acknowledged");
    }
    let kinds = |word: &str| all.values().filter(|said| said.starts_with(word)).count();
    println!("acknowledged: {} mints, {} discharges", kinds("minted"), kinds("discharged"));
    let mut intents: BTreeMap<String, usize> = BTreeMap::new();
    for row in home.rows_of("decision.intent") {
        *intents.entry(row["body"]["object"]["id"].as_str().unwrap().to_owned()).or_default() += 1;
    }
    assert!(intents.values().all(|count| *count == 1), "{intents:?}");
    for effect in std::fs::read_dir(home.dir().join("effects")).unwrap() {
        let path = effect.unwrap().path();
        let id = path.file_name().unwrap().to_str().unwrap();
        assert_eq!((lines(&path), intents.get(id)), (1, Some(&1)), "{id}");
    }
    assert!(
        home.rows_of("decision.outcome")
            .iter()
            .any(|o| said(&o["body"]) == "uncertain: interrupted")
    );
    home.verify();
}
