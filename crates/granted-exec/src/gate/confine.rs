//! What a gate may touch.

use std::io;
use std::path::Path;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, LandlockStatus, PathBeneath, PathFd,
    RestrictionStatus, Ruleset, RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _,
    RulesetError, RulesetStatus, Scope,
};
use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};

use super::{Confinement, GateError, calls};

/// The newest version whose rules are asked for. A kernel that has an older one keeps what it can.
const ABI: ABI = ABI::V10;

/// The system's folders, in which programs and what they are made of lie; those that are there.
const SYSTEM: [&str; 9] =
    ["/usr", "/lib", "/lib32", "/lib64", "/libx32", "/bin", "/sbin", "/etc", "/proc"];

/// The devices that every program may expect.
const DEVICES: [&str; 4] = ["/dev/null", "/dev/zero", "/dev/random", "/dev/urandom"];

/// The rules for a gate that has this folder and runs this program.
pub(super) fn rules(folder: &Path, program: &Path) -> Result<RulesetCreated, GateError> {
    let read = AccessFs::from_read(ABI);
    let read_file = read & AccessFs::from_file(ABI);
    let all = AccessFs::from_all(ABI);
    let write_file = BitFlags::from(AccessFs::WriteFile) | AccessFs::Truncate;
    let mut rules = Ruleset::default()
        .handle_access(all)
        .and_then(|rules| rules.handle_access(AccessNet::from_all(ABI)))
        .and_then(|rules| rules.scope(Scope::from_all(ABI)))
        .and_then(Ruleset::create)
        .map_err(said)?;
    let system = SYSTEM.iter().map(|path| (Path::new(path), read));
    let devices = DEVICES.iter().map(|path| (Path::new(path), AccessFs::ReadFile.into()));
    let own = [(folder, all), (program, read_file), (Path::new("/dev/null"), write_file)];
    for (path, access) in system.chain(devices).chain(own) {
        match PathFd::new(path) {
            Ok(handle) => rules = rules.add_rule(PathBeneath::new(handle, access)).map_err(said)?,
            // Not every system has all of them; without a rule nothing is allowed.
            Err(_) => continue,
        }
    }
    Ok(rules)
}

/// Confines this thread for good, and all that it starts.
pub(super) fn this_thread(
    rules: RulesetCreated,
    allow_unconfined: bool,
) -> Result<Confinement, GateError> {
    let status = rules.restrict_self().map_err(said)?;
    // Root's own rights reach around some rules: CAP_PERFMON reads the memory and the environment of
    // every process. What is started does not gain them again.
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })
        .map_err(io::Error::from)?;
    match (calls::close(), allow_unconfined) {
        (Ok(()), _) => judge(&status, allow_unconfined),
        (Err(_), true) => Ok(Confinement::None),
        (Err(why), false) => Err(GateError::Confine(why)),
    }
}

fn judge(status: &RestrictionStatus, allow_unconfined: bool) -> Result<Confinement, GateError> {
    match (&status.ruleset, &status.landlock) {
        (
            RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced,
            LandlockStatus::Available { effective_abi, .. },
        ) => Ok(Confinement::Landlock { abi: *effective_abi as u32 }),
        _ if allow_unconfined => Ok(Confinement::None),
        _ => Err(GateError::Unconfined),
    }
}

fn said(error: RulesetError) -> GateError {
    GateError::Confine(error.to_string())
}
