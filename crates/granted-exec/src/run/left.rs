//! Finds the processes that a program left behind, in /proc.

use std::os::fd::OwnedFd;

use rustix::fs::{CWD, Mode, OFlags, fstat, openat};
use rustix::io::Errno;
use rustix::process::{Pid, getpid, test_kill_process_group};

/// How many processes are left of a session, or still hold one of these pipes.
///
/// It costs a look at every process of the machine, so it is done only if the session's first
/// group has members or a pipe is open. The leader has been reaped.
pub(super) fn behind(session: Pid, pipes: &[&OwnedFd]) -> usize {
    // Signal 0 is none at all: should the number be another group's by now, the session's id
    // below still is not its own.
    if pipes.is_empty() && test_kill_process_group(session) == Err(Errno::SRCH) {
        return 0;
    }
    let links: Vec<Vec<u8>> = pipes
        .iter()
        .filter_map(|pipe| fstat(pipe).ok())
        .map(|stat| format!("pipe:[{}]", stat.st_ino).into_bytes())
        .collect();
    let us = getpid().as_raw_pid();
    let left = |pid: i32| {
        pid != us
            && (stat(pid).is_some_and(|stat| stat.alive && stat.session == session.as_raw_pid())
                || holds(pid, &links))
    };
    let found = processes().map_or(0, |all| all.filter(|pid| left(*pid)).count());
    // Somebody holds a pipe that is open, even if we may not see who.
    found.max(usize::from(!pipes.is_empty()))
}

/// How many live members a group has, its ended leader not counted; none if /proc cannot be read.
pub(super) fn in_group(group: Pid) -> Option<usize> {
    let group = group.as_raw_pid();
    let member = |pid: i32| stat(pid).is_some_and(|stat| stat.alive && stat.group == group);
    Some(processes()?.filter(|pid| member(*pid)).count())
}

fn processes() -> Option<impl Iterator<Item = i32>> {
    let entries = std::fs::read_dir("/proc").ok()?;
    Some(entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()))
}

struct Stat {
    alive: bool,
    group: i32,
    session: i32,
}

/// A process as /proc/PID/stat has it; none if it is gone.
fn stat(pid: i32) -> Option<Stat> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let file = openat(CWD, format!("/proc/{pid}/stat"), flags, Mode::empty()).ok()?;
    let mut buffer = [0; 512];
    let read = rustix::io::read(&file, &mut buffer).ok()?;
    // The name may hold anything, also parentheses and spaces; after it come state, parent,
    // group and session.
    let name_end = buffer.iter().rposition(|byte| *byte == b')')?;
    let fields = std::str::from_utf8(buffer.get(name_end + 1..read)?).ok()?;
    let mut fields = fields.split_ascii_whitespace();
    let state = fields.next()?;
    let mut number = |skipped: usize| fields.nth(skipped)?.parse().ok();
    Some(Stat { alive: !matches!(state, "Z" | "X"), group: number(1)?, session: number(0)? })
}

/// Whether a process holds one of these pipes. We may not see it of another user's.
fn holds(pid: i32, links: &[Vec<u8>]) -> bool {
    if links.is_empty() {
        return false;
    }
    let Ok(descriptors) = std::fs::read_dir(format!("/proc/{pid}/fd")) else { return false };
    descriptors.filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok()).any(|target| {
        let target = target.as_os_str().as_encoded_bytes();
        links.iter().any(|link| link == target)
    })
}
