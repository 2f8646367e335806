//! Custody: whether a file can be relied on, by what the system says of it.
//!
//! What gives authority is relied on only if nobody but this user and root could have written it:
//! the file, and every folder from there up to the home.

use std::fmt;

use crate::text::for_shell;

/// Who owns a file or folder, and who may write it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The user that it belongs to.
    pub owner: u32,
    /// Its permission bits.
    pub mode: u32,
}

/// What is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It belongs to another user, who is not root.
    Owner(u32),
    /// Its group may write it. Holds the mode.
    Group(u32),
    /// Everybody may write it. Holds the mode.
    Everybody(u32),
    /// It is a secret, and others may read it. Holds the mode.
    Leak(u32),
    /// It makes what lies below its folder a project, which agents write to. Holds the home there.
    Project(String),
}

impl Seen {
    /// What keeps this user from relying on it.
    pub fn fault(self, me: u32) -> Option<Fault> {
        match self.mode & 0o7777 {
            _ if self.owner != me && self.owner != 0 => Some(Fault::Owner(self.owner)),
            mode if mode & 0o002 != 0 => Some(Fault::Everybody(mode)),
            mode if mode & 0o020 != 0 => Some(Fault::Group(mode)),
            _ => None,
        }
    }

    /// What keeps it from being a secret.
    pub fn leak(self) -> Option<Fault> {
        let mode = self.mode & 0o7777;
        (mode & 0o044 != 0).then_some(Fault::Leak(mode))
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Owner(owner) => write!(f, "belongs to another user (uid {owner})"),
            Fault::Group(mode) => write!(f, "may be written by its group (mode {mode:04o})"),
            Fault::Everybody(mode) => write!(f, "may be written by everybody (mode {mode:04o})"),
            Fault::Leak(mode) => write!(f, "may be read by others (mode {mode:04o})"),
            Fault::Project(_) => f.write_str("makes all below it a project, which agents write to"),
        }
    }
}

/// A path with what is wrong there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breach {
    /// The file or folder.
    pub path: String,
    /// What is wrong with it.
    pub fault: Fault,
    /// The user that wants to rely on it.
    pub me: u32,
}

impl Breach {
    /// The command that mends it. Whoever could write the file may have: look at it first.
    pub fn mend(&self) -> String {
        let path = for_shell(&self.path);
        match &self.fault {
            Fault::Owner(_) => format!("sudo chown {} {path}", self.me),
            Fault::Group(_) | Fault::Everybody(_) => format!("chmod go-w {path}"),
            Fault::Leak(_) => format!("chmod go-rwx {path}"),
            Fault::Project(home) => format!("mv {} ~", for_shell(home)),
        }
    }
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` {}", self.path, self.fault)
    }
}

/// The name of a file system on which locks and the order of writes are not to be relied on, by the
/// number that Linux has for it; `None` for any other.
pub fn unsuitable(file_system: u32) -> Option<&'static str> {
    Some(match file_system {
        0x0000_6969 => "NFS",
        0x0000_517b | 0xff53_4d42 | 0xfe53_4d42 => "SMB",
        0x0102_1997 => "9P",
        0x6573_5546 => "FUSE",
        0x5346_414f | 0x6b41_4653 => "AFS",
        0x00c3_6400 => "Ceph",
        0x7375_7245 => "Coda",
        0x0bd0_0bd0 => "Lustre",
        0x4750_4653 => "GPFS",
        0x0116_1970 => "GFS2",
        0x7461_636f => "OCFS2",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_user_and_root_may_own_it_and_its_owner_write_it() {
        let fault = |owner, mode| Seen { owner, mode }.fault(1000);
        for (owner, mode) in [(1000, 0o600), (1000, 0o100_644), (0, 0o755), (1000, 0o40_700)] {
            assert_eq!(fault(owner, mode), None, "{owner} {mode:o}");
        }
        assert_eq!(fault(1001, 0o600), Some(Fault::Owner(1001)));
        assert_eq!(fault(1000, 0o100_664), Some(Fault::Group(0o664)));
        assert_eq!(fault(0, 0o775), Some(Fault::Group(0o775)));
        assert_eq!(fault(1000, 0o602), Some(Fault::Everybody(0o602)));
        // Sticky: nobody may take another's file away, but anybody may put one there.
        assert_eq!(fault(0, 0o1777), Some(Fault::Everybody(0o1777)));
        // To root, another user is another.
        assert_eq!(Seen { owner: 1000, mode: 0o600 }.fault(0), Some(Fault::Owner(1000)));
    }

    #[test]
    fn a_secret_is_read_by_its_owner_only() {
        let leak = |mode| Seen { owner: 1000, mode }.leak();
        assert_eq!((leak(0o100_600), leak(0o711)), (None, None));
        assert_eq!(leak(0o100_640), Some(Fault::Leak(0o640)));
        assert_eq!(leak(0o604), Some(Fault::Leak(0o604)));
    }

    #[test]
    fn a_breach_names_its_path_and_the_command_that_mends_it() {
        let breach = |fault| Breach { path: "/a b/c".into(), fault, me: 7 };
        let group = breach(Fault::Group(0o664));
        assert_eq!(group.to_string(), "`/a b/c` may be written by its group (mode 0664)");
        assert_eq!(group.mend(), "chmod go-w '/a b/c'");
        let leak = breach(Fault::Leak(0o640));
        assert_eq!(leak.to_string(), "`/a b/c` may be read by others (mode 0640)");
        assert_eq!(leak.mend(), "chmod go-rwx '/a b/c'");
        let project = breach(Fault::Project("/a b/.granted".into()));
        assert!(project.to_string().starts_with("`/a b/c` makes all below it a project"));
        assert_eq!(project.mend(), "mv '/a b/.granted' ~");
        let owner = breach(Fault::Owner(8));
        assert_eq!(owner.to_string(), "`/a b/c` belongs to another user (uid 8)");
        assert_eq!(owner.mend(), "sudo chown 7 '/a b/c'");
    }

    #[test]
    fn a_network_is_told_from_a_disk() {
        assert_eq!(unsuitable(0x6969), Some("NFS"));
        assert_eq!(unsuitable(0xef53), None);
    }
}
