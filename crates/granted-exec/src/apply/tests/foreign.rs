//! Others who write to the same files at the same time.

use super::*;

/// Does `at_step` right before the step of this name, the n-th of that name.
fn before<'a>(name: &'static str, n: usize, at_step: impl Fn() + 'a) -> Contents<'a> {
    let seen = Cell::new(0);
    source(move |_, what| {
        if what == name {
            if seen.get() == n {
                at_step();
            }
            seen.set(seen.get() + 1);
        }
        Ok(())
    })
}

/// Somebody writes to one of the files before any of the steps: what they wrote is kept, and the rest
/// is all old, or all new if everything was done by then.
#[test]
fn a_content_that_somebody_else_wrote_is_never_lost() {
    let project = Project::new();
    let clean = quiet();
    assert_eq!(apply(&order(), &project.tree, &clean), Applied::Done);
    let steps = clean.taken.get();
    for (file, old, new) in CHANGES {
        for by_rename in [false, true] {
            for at in 0..steps {
                project.reset();
                let target = project.at(file);
                let wrote = Cell::new(false);
                let source = source(|step, _| {
                    if step == at && target.parent().unwrap().exists() {
                        wrote.set(true);
                        if by_rename {
                            fs::write(project.at("theirs"), "theirs").unwrap();
                            fs::rename(project.at("theirs"), &target).unwrap();
                        } else {
                            fs::write(&target, "theirs").unwrap();
                        }
                    }
                    Ok(())
                });
                let applied = apply(&order(), &project.tree, &source);
                let recovered = match applied {
                    Applied::Unknown { .. } => {
                        Some(recover(&order(), &project.tree, &quiet()).unwrap())
                    }
                    Applied::Done | Applied::NotDone { .. } => None,
                };
                let case = || {
                    let state = project.state();
                    format!("{file}, {at}, {by_rename}: {applied:?} {recovered:?} {state}")
                };
                let done = applied == Applied::Done;
                if wrote.get() {
                    let found = fs::read_to_string(&target).ok();
                    assert_eq!(found.as_deref(), Some("theirs"), "{}", case());
                    // But for that, all is old or new.
                    match if done { new } else { old } {
                        Some(name) => project.write(file, name),
                        None => fs::remove_file(&target).unwrap(),
                    }
                    if !done {
                        // They could not go while theirs was in them.
                        let _ = fs::remove_dir(project.at("new/folder"));
                        let _ = fs::remove_dir(project.at("new"));
                    }
                }
                assert_eq!(project.state(), if done { "new" } else { "old" }, "{}", case());
            }
        }
    }
}

#[test]
fn what_is_no_file_any_more_is_put_back() {
    let project = Project::new();
    let elsewhere = tempfile::tempdir().unwrap();
    fs::write(elsewhere.path().join("secret"), "secret").unwrap();
    let file = project.at("src/large");
    let to_nothing = || fs::remove_file(&file).unwrap();
    let to_link = || {
        to_nothing();
        symlink(elsewhere.path().join("secret"), &file).unwrap();
    };
    let to_folder = || {
        to_nothing();
        fs::create_dir(&file).unwrap();
    };
    let to_fifo = || {
        to_nothing();
        let kind = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(rustix::fs::CWD, &file, kind, 0o600.into(), 0).unwrap();
    };
    let cases: [(&str, &dyn Fn()); 4] =
        [("link", &to_link), ("folder", &to_folder), ("fifo", &to_fifo), ("nothing", &to_nothing)];
    for (name, change) in cases {
        // The second file that is exchanged.
        let source = before("exchange two files", 1, change);
        let applied = apply(&order(), &project.tree, &source);
        let Applied::NotDone { changed, .. } = applied else { panic!("{name}: {applied:?}") };
        assert_eq!(changed, [path("src/large")], "{name}");
        let kind = fs::symlink_metadata(&file).ok().map(|found| found.file_type());
        match (name, kind) {
            ("link", Some(kind)) => assert!(kind.is_symlink()),
            ("folder", Some(kind)) => assert!(kind.is_dir()),
            ("fifo", Some(kind)) => assert!(std::os::unix::fs::FileTypeExt::is_fifo(&kind)),
            ("nothing", None) => {}
            other => panic!("{other:?}"),
        }
        let _ = fs::remove_file(&file).or_else(|_| fs::remove_dir(&file));
        project.reset();
    }
    assert_eq!(fs::read_to_string(elsewhere.path().join("secret")).unwrap(), "secret");
}

#[test]
fn a_folder_that_is_swapped_for_a_link_leads_nowhere_else() {
    let clean = quiet();
    assert_eq!(apply(&order(), &Project::new().tree, &clean), Applied::Done);
    for at in 0..clean.taken.get() {
        let project = Project::new();
        let elsewhere = tempfile::tempdir().unwrap();
        fs::write(elsewhere.path().join("large"), bytes("old large")).unwrap();
        let source = source(|step, _| {
            if step == at {
                fs::rename(project.at("src"), project.at("moved")).unwrap();
                symlink(elsewhere.path(), project.at("src")).unwrap();
            }
            Ok(())
        });
        let applied = apply(&order(), &project.tree, &source);
        // What the link leads to is untouched.
        assert_eq!(fs::read(elsewhere.path().join("large")).unwrap(), bytes("old large"));
        assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 1);
        fs::remove_file(project.at("src")).unwrap();
        fs::rename(project.at("moved"), project.at("src")).unwrap();
        match applied {
            Applied::Done => assert_eq!(project.state(), "new"),
            Applied::NotDone { .. } => assert_eq!(project.state(), "old", "{at}"),
            Applied::Unknown { .. } => panic!("{at}: {applied:?}"),
        }
    }
}

#[test]
fn recovery_touches_nothing_of_somebody_elses() {
    let project = Project::new();
    let temp = |n: usize| format!(".granted-{}-{n}", id());
    let recovered = || recover(&order(), &project.tree, &quiet()).unwrap();
    let unresolved = |file: &str| Recovered::Unresolved { files: vec![path(file)] };
    // It died after an exchange that displaced somebody's content: that is put back.
    project.write("run.sh", "new program");
    project.write(&temp(2), "theirs");
    assert_eq!(recovered(), unresolved("run.sh"));
    assert_eq!(project.files()["run.sh"], "theirs");
    assert!(!project.files().contains_key(&temp(2)));
    // Likewise after a removal.
    project.reset();
    fs::remove_file(project.at("src/gone")).unwrap();
    project.write(&format!("src/{}", temp(4)), "theirs");
    assert_eq!(recovered(), unresolved("src/gone"));
    assert_eq!(project.files()["src/gone"], "theirs");
    // Both the place and what was displaced are somebody's: both stay.
    project.reset();
    project.write("run.sh", "theirs too");
    project.write(&temp(2), "theirs");
    assert_eq!(recovered(), unresolved("run.sh"));
    assert_eq!(project.files()["run.sh"], "theirs too");
    assert_eq!(project.files()[&temp(2)], "theirs");
    // What was displaced is known: it goes.
    project.write(&temp(2), "old program");
    project.write("made", "made, new");
    assert_eq!(recovered(), unresolved("run.sh"));
    assert!(!project.files().contains_key(&temp(2)));
    assert_eq!(project.files()["made"], "made, new");
    // The temporary files of another change set are not touched.
    project.reset();
    project.write(".granted-01JQ3M5Y8KX2Z0V4T6W8R9ABCE-0", "another's");
    project.write(&format!("{}.part", temp(0)), "half");
    assert_eq!(recovered(), Recovered::Old);
    assert_eq!(project.files()[".granted-01JQ3M5Y8KX2Z0V4T6W8R9ABCE-0"], "another's");
    assert!(!project.files().contains_key(&format!("{}.part", temp(0))));
}

/// A file that has a temporary name before anything was done is not this change set's.
#[test]
fn a_temporary_name_that_is_taken_is_not_used() {
    let project = Project::new();
    for (n, content) in [(2, "theirs"), (2, "new program"), (0, "theirs"), (0, "made, new")] {
        let temp = format!(".granted-{}-{n}", id());
        project.write(&temp, content);
        let applied = apply(&order(), &project.tree, &quiet());
        assert_eq!(not_done(&applied), format!("`{temp}` is in the way"));
        assert_eq!(fs::read(project.at(&temp)).unwrap(), bytes(content));
        fs::remove_file(project.at(&temp)).unwrap();
        assert_eq!(project.state(), "old");
    }
    if !rustix::process::getuid().is_root() {
        return; // Only root gives files away.
    }
    // A process died, and somebody put a file of theirs there that holds just what is to come.
    let temp = format!(".granted-{}-2", id());
    project.write("made", "made, new");
    project.write(&temp, "new program");
    std::os::unix::fs::chown(project.at(&temp), Some(1234), None).unwrap();
    let said = recover(&order(), &project.tree, &quiet()).unwrap_err().to_string();
    assert!(said.contains(&format!("`{temp}` is in the way")), "{said}");
    assert_eq!(fs::read_to_string(project.at("run.sh")).unwrap(), "old program");
    // Of the user of the file itself it may be.
    std::os::unix::fs::chown(project.at("run.sh"), Some(1234), None).unwrap();
    assert_eq!(recover(&order(), &project.tree, &quiet()).unwrap(), Recovered::New);
    assert_eq!(project.state(), "new");
}
