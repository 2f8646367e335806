//! Programs that run from sealed copies of their bytes.
#![expect(clippy::disallowed_methods, reason = "files of the tests")]

use std::fs::{read, write};
use std::os::unix::fs::PermissionsExt;

use rustix::fs::{SealFlags, fcntl_get_seals, open};
use rustix::io::Errno;

use super::*;

fn put(path: &Path, bytes: &[u8]) {
    write(path, bytes).unwrap();
    std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
}

fn run_sealed(program: &Program) -> Run {
    let stop = Stop::new().unwrap();
    command(program, program.command(), &[], QUICK, &stop, None)
}

/// A binary and scripts, each of which says `bound`.
fn kinds() -> Vec<(&'static str, Vec<u8>)> {
    let script = |text: &str| text.as_bytes().to_vec();
    vec![
        ("binary", read("/bin/echo").unwrap()),
        ("sh", script("#!/bin/sh\necho bound\n")),
        ("bash", script("#!/bin/bash\necho bound\n")),
        ("python", script("#!/usr/bin/env python3\nprint('bound')\n")),
        ("env -S", script("#!/usr/bin/env -S python3 -I\nprint('bound')\n")),
    ]
}

#[test]
fn what_was_sealed_runs_whatever_is_written_then() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    for (kind, bytes) in kinds() {
        put(&path, &bytes);
        let program = program(dir.path(), &["./run", "bound"]);
        let (sealed, identity) = program.sealed().unwrap();
        assert_eq!(identity, program.look().unwrap(), "{kind}");
        assert_eq!((identity.digest, program.digest()), (sealed.digest(), sealed.digest()));
        put(&path, b"#!/bin/sh\necho swapped\n");
        assert_eq!(&*run_sealed(&program).stdout.tail, "swapped\n", "{kind}");
        assert_eq!(&*run_sealed(&sealed).stdout.tail, "bound\n", "{kind}");
        std::fs::remove_file(&path).unwrap();
        // And again: the copy is as it was.
        let run = run_sealed(&sealed);
        assert_eq!((run.ended, &*run.stdout.tail), (Ended::Exit(0), "bound\n"), "{kind}");
        assert!(program.look().is_err(), "{kind}");
    }
}

#[test]
fn nobody_can_write_to_a_sealed_copy() {
    let dir = tempfile::tempdir().unwrap();
    // It tries to, by every name that it has for itself.
    let text = "#!/bin/sh\necho x >>$0; echo x >&3; echo $?\n";
    put(&dir.path().join("run"), text.as_bytes());
    let (sealed, _) = program(dir.path(), &["./run"]).sealed().unwrap();
    let run = run_sealed(&sealed);
    assert_ne!(&*run.stdout.tail, "0\n", "{run:?}");
    let file = &sealed.command().sealed.as_ref().unwrap().file;
    let all = SealFlags::WRITE | SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL;
    assert!(fcntl_get_seals(file).unwrap().contains(all));
    let path = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(file));
    let again = open(&path, OFlags::RDWR, Mode::empty()).unwrap();
    assert_eq!(rustix::io::write(&again, b"x"), Err(Errno::PERM));
    assert_eq!(rustix::fs::ftruncate(&again, 0), Err(Errno::PERM));
    assert_eq!(read(path).unwrap(), text.as_bytes());
}

#[test]
fn a_sealed_one_is_told_where_its_file_lies() {
    let dir = tempfile::tempdir().unwrap();
    let text = "#!/bin/sh\necho $0 $1 $GRANTED_EXECUTOR_PATH; ls /proc/self/fd | xargs\n";
    put(&dir.path().join("run"), text.as_bytes());
    let program = program(dir.path(), &["./run", "argument"]);
    let path = dir.path().join("./run");
    let (sealed, path) = (program.sealed().unwrap().0, path.display());
    // The last is that of `ls` itself.
    let said = format!("/proc/self/fd/3 argument {path}\n0 1 2 3 4\n");
    assert_eq!(&*run_sealed(&sealed).stdout.tail, said);
    let said = format!("{path} argument\n0 1 2 3\n");
    assert_eq!(&*run_sealed(&program).stdout.tail, said);
}

#[test]
fn the_one_that_confirms_is_sealed_too() {
    let dir = tempfile::tempdir().unwrap();
    put(&dir.path().join("confirm"), b"#!/bin/sh\necho bound\n");
    let confirm = Some(vec!["./confirm".into()]);
    let program =
        Program::prepare(Definition { confirm, ..definition(dir.path(), &["true"]) }).unwrap();
    let (sealed, identity) = program.sealed().unwrap();
    put(&dir.path().join("confirm"), b"#!/bin/sh\necho swapped\n");
    let stop = Stop::new().unwrap();
    let run = command(&sealed, sealed.confirm().unwrap(), &[], QUICK, &stop, None);
    assert_eq!(&*run.stdout.tail, "bound\n");
    let changed = identity.changed(&program.look().unwrap()).unwrap();
    assert!(
        changed.contains("confirm") && changed.ends_with("has changed since the grant was minted")
    );
}

#[test]
fn a_file_that_changes_is_told_by_the_identity() {
    let dir = tempfile::tempdir().unwrap();
    let files = vec!["list".into()];
    put(&dir.path().join("list"), b"1");
    let program =
        Program::prepare(Definition { files, ..definition(dir.path(), &["true"]) }).unwrap();
    let before = program.sealed().unwrap().1;
    put(&dir.path().join("list"), b"2");
    let after = [program.look().unwrap(), program.sealed().unwrap().1];
    assert_eq!(after[0], after[1]);
    let list = dir.path().join("list");
    let changed =
        format!("the executor's file {} has changed since the grant was minted", list.display());
    assert_eq!(before.changed(&after[0]), Some(changed));
}
