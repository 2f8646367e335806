//! The system calls that a gate does not have.
//!
//! Landlock says which files are reached, and holds TCP and abstract sockets back. What it does not hold
//! back is closed here: a gate opens no socket at all (a pair of its own is none that leads anywhere), gives
//! no file away, sets no attribute, shares no memory and no queue of System V, limits no other process, makes
//! no user of its own, and has none of the calls by which programs trace, mount or reach into the kernel.
//! `chmod` and `utime` stay: tools use them on their own files, and a filter sees no paths.

use std::collections::BTreeMap;
use std::env::consts::ARCH;
use std::sync::LazyLock;

use libc::{c_int, c_long};
use rustix::process::{getegid, geteuid};
use seccompiler::SeccompCmpArgLen::{Dword, Qword};
use seccompiler::SeccompCmpOp::{MaskedEq, Ne};
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCondition, SeccompFilter, SeccompRule,
    apply_filter,
};

/// They answer EPERM.
const DENIED: [c_long; 34] = [
    libc::SYS_socket,
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsmount,
    libc::SYS_mount_setattr,
    libc::SYS_setns,
    libc::SYS_unshare,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_io_uring_setup,
    libc::SYS_userfaultfd,
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
];

/// They answer EPERM where they are about another process, which the first argument names: limits, of which
/// one is a SIGKILL, and how it is scheduled.
const OTHERS: [c_long; 3] =
    [libc::SYS_sched_setscheduler, libc::SYS_sched_setparam, libc::SYS_sched_setattr];

/// The same, with what the first argument is where the second one names a process.
const PRIORITIES: [(c_long, u64); 2] = [
    (libc::SYS_setpriority, libc::PRIO_PROCESS as u64),
    // IOPRIO_WHO_PROCESS
    (libc::SYS_ioprio_set, 1),
];

/// What x32 has under numbers that no other call has.
const ONLY_X32: [c_long; 3] = [X32 | 521, X32 | 539, X32 | 540];

/// They answer that no file has attributes, so that what copies files goes on without.
const UNKNOWN: [c_long; 8] = [
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    // Newer than the names that are at hand; the same numbers on every machine.
    463,
    466,
];

/// They answer EPERM where they give a file to anybody else: each, and where its user stands among its
/// arguments, before the group.
const GIVING: [(c_long, u8); 2] = [(libc::SYS_fchown, 1), (libc::SYS_fchownat, 2)];

/// The same where they are older than what newer machines have.
#[cfg(target_arch = "x86_64")]
const OLD_GIVING: [(c_long, u8); 2] = [(libc::SYS_chown, 1), (libc::SYS_lchown, 1)];
#[cfg(not(target_arch = "x86_64"))]
const OLD_GIVING: [(c_long, u8); 0] = [];

/// What x86-64 has a second number for each call with.
const X32: c_long = 0x4000_0000;

/// Takes these calls from this thread for good, and from all that it starts. Programs of another kind of
/// machine, such as those of 32 bits, do not run then.
pub(super) fn close() -> Result<(), String> {
    // Who this process is does not change.
    static PROGRAMS: LazyLock<Result<[BpfProgram; 3], BackendError>> = LazyLock::new(programs);
    let said = |e: &dyn std::fmt::Display| format!("the filter of system calls: {e}");
    for program in PROGRAMS.as_ref().map_err(|e| said(e))? {
        apply_filter(program).map_err(|e| said(&e))?;
    }
    Ok(())
}

fn programs() -> Result<[BpfProgram; 3], BackendError> {
    let always = |calls: &[c_long]| calls.iter().map(|call| (*call, Vec::new())).collect();
    let mut denied: Rules = always(&DENIED);
    for (call, user) in GIVING.into_iter().chain(OLD_GIVING) {
        denied.insert(call, giving(user)?);
    }
    let is_not = |argument: u8, value: u64| SeccompCondition::new(argument, Dword, Ne, value);
    let limits = [is_not(0, 0)?, SeccompCondition::new(2, Qword, Ne, 0)?];
    denied.insert(libc::SYS_prlimit64, vec![SeccompRule::new(limits.into())?]);
    for call in OTHERS {
        denied.insert(call, vec![SeccompRule::new(vec![is_not(0, 0)?])?]);
    }
    for (call, process) in PRIORITIES {
        let rules = [is_not(0, process)?, is_not(1, 0)?].map(|rule| SeccompRule::new(vec![rule]));
        denied.insert(call, rules.into_iter().collect::<Result<_, _>>()?);
    }
    let user = libc::CLONE_NEWUSER as u64;
    let user = SeccompCondition::new(0, Dword, MaskedEq(user), user)?;
    denied.insert(libc::SYS_clone, vec![SeccompRule::new(vec![user])?]);
    denied.extend(ONLY_X32.map(|call| (call, Vec::new())));
    Ok([
        program(denied, libc::EPERM)?,
        program(always(&UNKNOWN), libc::EOPNOTSUPP)?,
        // Its flags are not seen; who asks goes on with `clone`.
        program(always(&[libc::SYS_clone3]), libc::ENOSYS)?,
    ])
}

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

fn program(rules: Rules, errno: c_int) -> Result<BpfProgram, BackendError> {
    let both = |(call, rule): (i64, Vec<SeccompRule>)| [(call, rule.clone()), (call | X32, rule)];
    let rules = rules.into_iter().flat_map(both).collect();
    let answer = SeccompAction::Errno(errno.cast_unsigned());
    SeccompFilter::new(rules, SeccompAction::Allow, answer, ARCH.try_into()?)?.try_into()
}

/// A user or a group that is neither left as it is nor the own one.
fn giving(user: u8) -> Result<Vec<SeccompRule>, BackendError> {
    let other = |argument: u8, own: u32| {
        let is_not = |id: u32| SeccompCondition::new(argument, Dword, Ne, id.into());
        SeccompRule::new(vec![is_not(u32::MAX)?, is_not(own)?])
    };
    Ok(vec![other(user, geteuid().as_raw())?, other(user + 1, getegid().as_raw())?])
}
