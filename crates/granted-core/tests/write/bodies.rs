//! What `granted ledger verify` finds in one row: subjects that are not those of its body.

use std::time::Duration;

use granted_core::digest::Digest;
use granted_core::ledger::{Event, Subject};
use granted_core::write::DirectGrant;
use granted_core::write::event::{Applied, Request};
use granted_testkit::sample::{id, now};
use granted_testkit::tale::Key;
use granted_testkit::writes::*;

use super::audit::{begin, by_person, each_is_found, edited};

#[test]
fn a_body_is_held_against_its_subjects() {
    let (_, key, grant) = begin();
    let one = id(1);
    let swap = |(event, mut moved): Told| {
        moved.reverse();
        (event, moved)
    };
    let more = |(event, mut moved): Told, subject: Subject| {
        moved.push(subject);
        (event, moved)
    };
    let less = |(event, mut moved): Told| {
        moved.pop();
        (event, moved)
    };
    let none = Request { digest: Digest::of(b"other"), ..edited() };
    let empty = request(vec![]);
    let with = |change: &dyn Fn(&mut DirectGrant)| {
        let mut changed = grant.clone();
        change(&mut changed);
        vec![granted(&changed, &key)]
    };
    let stranger = Key::file(2);
    let by_other = {
        let named = DirectGrant { key_id: stranger.public.id(), ..grant.clone() };
        vec![granted(&named, &stranger)]
    };
    let edited_after = {
        let (event, moved) = granted(&grant, &key);
        let Event::DirectGranted(mut body) = event else { unreachable!() };
        body.grant.max_writes = 51;
        vec![(Event::DirectGranted(body), moved)]
    };
    each_is_found(vec![
        ("another digest", vec![staged(one, none, None)], "`digest` is not"),
        ("no file", vec![staged(one, empty, None)], "changes no file"),
        ("staged without its day", vec![less(staged(one, edited(), None))], "those of its kind"),
        ("staged in another order", vec![swap(staged(one, edited(), None))], "lack a change set"),
        ("a person's with a day", vec![more(staged(one, by_person(), None), day())], "of its kind"),
        (
            "staged with more",
            vec![dispatched(1, 1), more(staged(one, edited(), Some(1)), day())],
            "of its kind",
        ),
        (
            "a day too early",
            vec![{
                let (event, mut moved) = staged(one, edited(), None);
                moved[1] = project().day(&agent(), now().minus(Duration::from_secs(2 * 86_400)));
                (event, moved)
            }],
            "lack the day",
        ),
        (
            "another agent's day",
            vec![{
                let (event, mut moved) = staged(one, edited(), None);
                moved[1] = project().day(&"other".parse().unwrap(), now());
                (event, moved)
            }],
            "lack the day",
        ),
        ("refused with a day", vec![more(refused(one, None), day())], "lack a dispatch"),
        (
            "refused with more",
            vec![dispatched(1, 1), more(refused(one, Some(1)), day())],
            "of its kind",
        ),
        ("approved with a day", vec![more(approved(one, &edited()), day())], "of its kind"),
        ("undone with a day", vec![more(undone(one), day())], "of its kind"),
        ("unresolved with a day", vec![more(unresolved(one), day())], "of its kind"),
        (
            "applied with a project",
            {
                vec![more(
                    (Event::WriteApplied(Applied { recovered: false }), vec![Subject::write(one)]),
                    project().subject(),
                )]
            },
            "of its kind",
        ),
        ("dispatched with more", vec![more(dispatched(1, 1), day())], "of its kind"),
        (
            "dispatched to nothing",
            { vec![(dispatched(1, 1).0, vec![Subject::new("dispatch:1").unwrap()])] },
            "lack a dispatch",
        ),
        (
            "signed for another project",
            vec![{
                let (event, mut moved) = granted(&grant, &key);
                moved[1] = Subject::project(Digest::of(b"/"));
                (event, moved)
            }],
            "of its body",
        ),
        (
            "signed under another id",
            vec![{
                let (event, mut moved) = granted(&grant, &key);
                moved[0] = Subject::direct(one);
                (event, moved)
            }],
            "of its body",
        ),
        (
            "loaded elsewhere",
            vec![{ (loaded(&grant, &key).0, vec![Subject::project(Digest::of(b"/"))]) }],
            "of its body",
        ),
        ("loaded with more", vec![more(loaded(&grant, &key), day())], "of its kind"),
        ("revoked alone", vec![granted(&grant, &key), less(revoked(&grant))], "of its kind"),
        ("no files", with(&|grant| grant.max_writes = 0), "out of range"),
        ("too many files", with(&|grant| grant.max_writes = 501), "out of range"),
        ("no window", with(&|grant| grant.expires = grant.issued), "empty"),
        (
            "too long",
            { with(&|grant| grant.expires = grant.issued.plus(Duration::from_secs(31 * 86_400))) },
            "for longer",
        ),
        ("of another book", with(&|grant| grant.book = id(9)), "another book"),
        (
            "signed by another key than it names",
            { with(&|grant| grant.key_id = stranger.public.id()) },
            "the key that it names",
        ),
        ("signed by a key that is not trusted", by_other, "is not trusted"),
        ("edited after it was signed", edited_after, "its signature is wrong"),
    ]);
}
