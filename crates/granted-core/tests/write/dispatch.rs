//! Dispatches: who may use which, how often, and how all faults look alike.

use std::time::Duration;

use granted_core::ledger::event::Accepted;
use granted_core::ledger::{Event, Subject};
use granted_core::write::Agent;
use granted_core::write::decide::{Asker, identify};
use granted_core::write::dispatch::{DispatchState, id as dispatch_id};
use granted_testkit::sample::{id, now};
use granted_testkit::writes;

use super::world::World;

/// Whether one more change set may be filed with the dispatch 1.
fn allows(world: &World) -> bool {
    world.dispatch(1).unwrap().allows(&writes::agent(), &world.project, now())
}

#[test]
fn h2_every_fault_has_one_answer() {
    let mut world = World::new();
    world.tell(writes::dispatched(1, 1));
    world.tell(writes::dispatched(2, 1));
    world.tell(writes::staged(id(1), writes::request(writes::edit()), Some(2)));
    let (agent, careful): (Agent, Agent) = (writes::agent(), "careful".parse().unwrap());
    let (good, used) = (world.dispatch(1).unwrap(), world.dispatch(2).unwrap());
    let mut anothers = good.clone();
    anothers.issued.agent = careful.clone();
    let mut elsewhere = good.clone();
    elsewhere.issued.project = "/home/ada/other".parse().unwrap();
    let project = &world.project;
    let ask = |given, dispatch: Option<&DispatchState>, at| {
        identify(&world.asker(&agent), project, given, dispatch, at)
    };
    assert_eq!(ask(true, Some(&good), now()), Ok(()));
    assert_eq!(ask(true, Some(&good), good.issued.expires.minus(Duration::from_micros(1))), Ok(()));
    let answers = [
        ask(false, None, now()),
        ask(true, None, now()),
        ask(true, Some(&used), now()),
        ask(true, Some(&anothers), now()),
        ask(true, Some(&elsewhere), now()),
        ask(true, Some(&good), good.issued.expires),
    ];
    for answer in &answers {
        assert!(answer.is_err());
        assert_eq!(answer, &answers[0]);
    }
    // Where it is optional, none is good and a bad one is not.
    let optional = world.asker(&careful);
    assert_eq!(identify(&optional, project, false, None, now()), Ok(()));
    assert!(identify(&optional, project, true, None, now()).is_err());
    assert_eq!(identify(&optional, project, true, Some(&anothers), now()), Ok(()));
    // The person needs none.
    assert_eq!(identify(&Asker::person(&world.brief), project, false, None, now()), Ok(()));
}

#[test]
fn h2_only_32_hexadecimal_digits_are_a_nonce() {
    assert!(dispatch_id(&"0f".repeat(16)).is_some());
    for bad in ["", "0f", &"0F".repeat(16), &"0f".repeat(17), &"0g".repeat(16), &"é".repeat(16)] {
        assert_eq!(dispatch_id(bad), None, "{bad}");
    }
    assert_ne!(dispatch_id(&"00".repeat(16)), dispatch_id(&"01".repeat(16)));
}

#[test]
fn h3_a_nonce_that_another_agent_tried_is_still_good() {
    let mut world = World::new();
    world.tell(writes::dispatched(1, 1));
    world.tell(writes::refused(id(1), Some(1)));
    assert!(allows(&world));
    assert!(!world.dispatch(1).unwrap().allows(&"careful".parse().unwrap(), &world.project, now()));
}

#[test]
fn h8_h9_uses_are_counted_apart_from_attempts() {
    let mut world = World::new();
    let grant = world.grant(7);
    world.sign(&grant);
    world.tell(writes::dispatched(1, 3));
    world.tell(writes::refused(id(1), Some(1)));
    world.tell(writes::staged(id(2), writes::request(writes::edit()), Some(1)));
    world.tell(writes::direct(id(3), writes::request(writes::edit()), &grant, 1));
    let state = world.dispatch(1).unwrap();
    assert_eq!((state.uses, state.attempts), (2, 3));
    assert!(allows(&world));
    // Approving what was staged costs nothing.
    world.tell(writes::approved(id(2), &writes::request(writes::edit())));
    assert_eq!(world.dispatch(1).unwrap().uses, 2);
    world.tell(writes::staged(id(4), writes::request(writes::edit()), Some(1)));
    assert!(!allows(&world));
}

#[test]
fn h10_the_101st_arrival_is_refused() {
    let mut world = World::new();
    world.tell(writes::dispatched(1, 25));
    for number in 0..99 {
        world.tell(writes::refused(id(number), Some(1)));
    }
    assert!(allows(&world), "the 100th");
    world.tell(writes::refused(id(99), Some(1)));
    assert!(!allows(&world), "the 101st");
    assert_eq!(world.dispatch(1).unwrap().uses, 0);
}

#[test]
fn n1_a_dispatch_is_narrow_by_its_row() {
    let narrow = |uses, hours: u64| {
        let mut world = World::new();
        let (mut event, moved) = writes::dispatched(1, uses);
        if let Event::WriteDispatched(body) = &mut event {
            body.expires = world.tale.story.scribe.now.plus(Duration::from_secs(hours * 3_600));
        }
        world.tell((event, moved));
        world.dispatch(1).unwrap().is_narrow()
    };
    assert!(narrow(10, 4));
    assert!(!narrow(11, 4));
    assert!(!narrow(10, 5));
}

#[test]
fn one_that_was_closed_is_used_no_more() {
    let mut world = World::new();
    world.tell(writes::dispatched(1, 3));
    assert!(allows(&world));
    let word = |text: &str| text.parse().unwrap();
    let what = vec![];
    let closes = Accepted { by: word("ada"), reason: word("r"), signature: None, what };
    world.tell((Event::Accepted(closes), vec![writes::dispatch_subject(1)]));
    assert!(!allows(&world));
    // One of which only that row is left is not known at all.
    assert_eq!(world.dispatch(2), None);
    let subject: Subject = writes::dispatch_subject(1);
    let last = world.rows(&subject).pop().unwrap();
    assert_eq!(DispatchState::fold(subject.dispatch_id().unwrap(), &[last]), None);
}
