//! Races: of however many that want one grant, one acts, and each of the others says why it did
//! not.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::Child;
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};

use granted::{Book, Door, Home as Places, Request, Verdict};
use serde_json::Value;

use crate::crowd::{Gate, ends, files, lines, mint_sheet, said, start, start_discharge, until};
use crate::home::{Home, Run};

/// The executor: one line in a file a grant.
const EFFECT: &str = "echo $GRANTED_DISCHARGE_ID >> effects/$GRANTED_OBJECT_ID";

fn home() -> Home {
    let home = Home::new();
    std::fs::create_dir(home.dir().join("effects")).unwrap();
    home
}

fn effects(home: &Home, id: &str) -> usize {
    lines(&home.dir().join("effects").join(id))
}

fn acts(home: &Home) -> PathBuf {
    home.root().join("acts")
}

/// Holds them at the gate until all of them want to append.
fn race(home: &Home, waiting: usize, begin: impl FnOnce() -> Vec<Child>) -> Vec<Run> {
    let gate = Gate::closed(home);
    let children = begin();
    until("all are at the gate", || files(&acts(home)) == waiting);
    gate.open();
    ends(children)
}

/// How many rows there are of each kind.
fn kinds(home: &Home) -> BTreeMap<String, usize> {
    let mut kinds = BTreeMap::new();
    for row in home.rows() {
        *kinds.entry(row["kind"].as_str().unwrap().to_owned()).or_default() += 1;
    }
    kinds
}

/// Each grant was used by exactly one attempt, every other attempt was refused because of it and
/// left exactly one row, and nothing else was written.
fn one_winner_each(home: &Home, grants: usize, reports: &[Value]) {
    let (won, lost): (Vec<&Value>, Vec<&Value>) =
        reports.iter().partition(|report| said(report) == "discharged: confirmed");
    let objects: BTreeSet<_> = won.iter().map(|report| report["object"]["id"].as_str()).collect();
    assert_eq!((won.len(), objects.len()), (grants, grants));
    for report in &lost {
        let said = said(report);
        assert!(matches!(&*said, "refused: claim_lost" | "refused: consumed"), "{report}");
    }
    let outcomes: BTreeMap<String, String> = home
        .rows_of("decision.outcome")
        .iter()
        .map(|row| {
            let attempt = row["refs"][0][0].as_str().unwrap().strip_prefix("discharge:").unwrap();
            (attempt.to_owned(), said(&row["body"]))
        })
        .collect();
    for report in reports {
        let attempt = report["discharge_id"].as_str().unwrap();
        assert_eq!(outcomes[attempt], said(report));
    }
    let expected = [
        ("ledger.opened", 1),
        ("decision.minted", grants),
        ("decision.intent", grants),
        ("decision.result", grants),
        ("decision.outcome", reports.len()),
    ];
    assert_eq!(kinds(home), expected.map(|(kind, count)| (kind.to_owned(), count)).into());
    home.verify();
}

fn reports(runs: Vec<Run>) -> Vec<Value> {
    let report = |run: Run| {
        let report = run.json();
        let code = if report["outcome"] == "discharged" { 0 } else { 3 };
        run.exits(code);
        report
    };
    runs.into_iter().map(report).collect()
}

#[test]
fn processes_race_one_grant() {
    let home = home();
    home.mint("1", "");
    let runs =
        race(&home, 32, || (0..32).map(|_| start_discharge(&home, "1", EFFECT, &[])).collect());
    one_winner_each(&home, 1, &reports(runs));
    assert_eq!(effects(&home, "1"), 1);
    assert_eq!(files(&acts(&home)), 0);
}

#[test]
fn processes_race_200_grants() {
    let home = home();
    mint_sheet(&home, 0..200);
    // 32 at a time, three for each grant, one grant after the other.
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut runs = Vec::new();
        loop {
            let turn = next.fetch_add(1, Ordering::Relaxed);
            if turn >= 600 {
                return runs;
            }
            let child = start_discharge(&home, &(turn / 3).to_string(), EFFECT, &[]);
            runs.extend(ends(vec![child]));
        }
    };
    let runs = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..32).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    one_winner_each(&home, 200, &reports(runs));
    for grant in 0..200 {
        assert_eq!(effects(&home, &grant.to_string()), 1, "grant {grant}");
    }
}

/// 64 threads race these grants through the library; so many attempts for each, one grant after
/// the other.
fn threads_race(grants: usize, attempts: usize) {
    let home = home();
    mint_sheet(&home, 0..grants);
    let book = Book::open(Places::at(home.root()), Door::Library);
    let calls: Vec<AtomicUsize> = (0..grants).map(|_| AtomicUsize::new(0)).collect();
    let (start, next) = (Barrier::new(64), AtomicUsize::new(0));
    let worker = || {
        let mut reports = Vec::new();
        start.wait();
        loop {
            let grant = next.fetch_add(1, Ordering::Relaxed) / attempts;
            let Some(called) = calls.get(grant) else { return reports };
            let request = Request::new("report", &grant.to_string(), "closure").unwrap();
            let report = granted::discharge(&book, &request, |_, act| {
                called.fetch_add(1, Ordering::SeqCst);
                act.result(true, None);
                Verdict::Done
            });
            reports.push(serde_json::to_value(report).unwrap());
        }
    };
    let reports: Vec<Value> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..64).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    assert_eq!(reports.len(), attempts * grants);
    assert!(calls.iter().all(|called| called.load(Ordering::SeqCst) == 1), "{calls:?}");
    one_winner_each(&home, grants, &reports);
}

#[test]
fn threads_race_one_grant() {
    threads_race(1, 64);
}

#[test]
fn threads_race_200_grants() {
    threads_race(200, 4);
}

#[test]
fn one_key_runs_once_and_answers_all() {
    let home = home();
    home.mint("1", "");
    let runs = race(&home, 8, || {
        (0..8).map(|_| start_discharge(&home, "1", EFFECT, &["--key", "k"])).collect()
    });
    let mut reports: Vec<Value> = runs.into_iter().map(|run| run.ok().json()).collect();
    assert_eq!(reports.iter().filter(|report| report["replayed"] == false).count(), 1);
    // But for that they all say the same.
    for report in &mut reports {
        report["replayed"] = false.into();
    }
    assert!(reports.iter().all(|report| *report == reports[0]), "{reports:#?}");
    assert_eq!(said(&reports[0]), "discharged: confirmed");
    assert_eq!(effects(&home, "1"), 1);
    assert_eq!(home.rows().len(), 5);
    home.verify();
}

#[test]
fn a_key_waits_for_the_act_that_runs() {
    let home = home();
    home.mint("1", "");
    let first = start_discharge(
        &home,
        "1",
        "echo >> begun; until test -e go; do sleep 0.01; done; echo x >> effects/1",
        &["--key", "k"],
    );
    until("the act runs", || home.dir().join("begun").exists());
    let second = start_discharge(&home, "1", EFFECT, &["--key", "k"]);
    until("the second has begun", || files(&acts(&home)) == 2);
    home.write("go", "");
    let runs = ends(vec![first, second]);
    let (first, second) = (runs[0].json(), runs[1].json());
    assert_eq!(said(&first), "discharged: confirmed");
    assert_eq!(
        (&second["replayed"], &second["discharge_id"]),
        (&true.into(), &first["discharge_id"])
    );
    assert_eq!((effects(&home, "1"), home.rows().len()), (1, 5));
    home.verify();
}

#[test]
fn one_that_waits_for_its_own_key_does_not_wait_for_ever() {
    let home = home();
    home.mint("1", "");
    let inner = "granted discharge --type report --id 1 --key k --timeout 1s --exec true; exit 75";
    let bin = env!("CARGO_BIN_EXE_granted").rsplit_once('/').unwrap().0;
    let act = format!("PATH={bin}:$PATH; {inner}");
    let outer = ends(vec![start_discharge(&home, "1", &act, &["--key", "k"])]).remove(0);
    assert_eq!(said(&outer.json()), "refused: executor_declined");
    assert!(outer.stderr.contains("refused: claim_lost"), "{outer:?}");
    home.verify();
}

#[test]
fn one_that_waits_for_a_key_can_be_told_to_stop() {
    let home = home();
    home.mint("1", "");
    let act = "echo >> begun; until test -e go; do sleep 0.01; done";
    let first = start_discharge(&home, "1", act, &["--key", "k"]);
    until("the act runs", || home.dir().join("begun").exists());
    let second = start_discharge(&home, "1", EFFECT, &["--key", "k"]);
    until("the second has begun", || files(&acts(&home)) == 2);
    let pid = second.id().to_string();
    assert!(home.other("kill").args(["-TERM", &pid]).status().unwrap().success());
    let stopped = ends(vec![second]).remove(0).exits(1);
    assert!(stopped.stderr.contains("\"kind\":\"stopped\""), "{stopped:?}");
    home.write("go", "");
    assert_eq!(said(&ends(vec![first])[0].json()), "discharged: confirmed");
    assert_eq!(home.rows().len(), 5);
    home.verify();
}

#[test]
fn of_racing_mints_one_wins() {
    let home = home();
    home.mint("other", "");
    let documents = home.root().join("grants/report");
    let gate = Gate::closed(&home);
    let mint = ["mint", "--type", "report", "--id", "1", "--by", "me", "--for", "1h"];
    let mints = (0..8).map(|_| start(&home, &mint)).collect();
    // Each makes its document and then wants to append.
    until("all are at the gate", || files(&documents) == 9);
    gate.open();
    let (won, lost): (Vec<Run>, Vec<Run>) = ends(mints).into_iter().partition(|run| run.code == 0);
    assert_eq!((won.len(), lost.len()), (1, 7));
    for run in lost {
        assert!(run.exits(1).stderr.contains("already has grant"));
    }
    assert_eq!((files(&documents), home.rows_of("decision.minted").len()), (2, 2));
    assert_eq!(home.document("1").to_str().unwrap(), won[0].stdout.trim());
    assert_eq!(home.status("1"), "live");
    home.verify();
}

#[test]
fn a_revocation_races_a_discharge() {
    let home = home();
    for round in 0..12 {
        let id = round.to_string();
        home.mint(&id, "");
        let revoke = ["revoke", "--type", "report", "--id", &id];
        // Both wait for the lock; which of them gets it is up to the kernel.
        let runs = race(&home, 1, || {
            let mut pair = vec![start_discharge(&home, &id, EFFECT, &[])];
            pair.push(start(&home, &revoke));
            pair
        });
        let (report, revoked) = (runs[0].json(), &runs[1]);
        match said(&report).as_str() {
            "discharged: confirmed" => {
                assert_eq!(effects(&home, &id), 1);
                // It came while the act ran, or after it.
                let spent = revoked.stderr.contains("has no grant that could be revoked");
                assert!(revoked.code == 0 || revoked.code == 1 && spent, "{revoked:?}");
                assert_eq!(home.status(&id), "consumed");
            }
            "refused: revoked" => {
                assert_eq!((effects(&home, &id), revoked.code), (0, 0));
                assert_eq!(home.status(&id), "revoked");
            }
            other => panic!("{other}: {report}"),
        }
    }
    home.verify();
}

#[test]
fn a_session_has_one_act_at_a_time() {
    let home = home();
    home.mint("1", "--decision APPROVE_SESSION");
    let exec = "mkdir held || echo >> overlaps; echo x >> effects/1; rmdir held";
    let runs =
        race(&home, 16, || (0..16).map(|_| start_discharge(&home, "1", exec, &[])).collect());
    let mut discharged = 0;
    for report in reports(runs) {
        match said(&report).as_str() {
            "discharged: confirmed" => discharged += 1,
            other => assert_eq!(other, "refused: claim_lost"),
        }
    }
    assert!(discharged >= 1);
    assert_eq!(effects(&home, "1"), discharged);
    assert_eq!(lines(&home.dir().join("overlaps")), 0);
    assert_eq!(home.rows_of("decision.intent").len(), discharged);
    assert_eq!(home.rows_of("decision.outcome").len(), 16);
    assert_eq!(home.status("1"), "live");
    home.verify();
}
