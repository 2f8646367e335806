//! What an executor is: how it is started, and the bytes that it starts from.

use serde::{Deserialize, Serialize};

use super::Bind;
use crate::digest::Digest;

/// What an executor is, its fields in canonical order. Its name stands beside it.
///
/// The values of its variables are not part of it: they may be secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// The program as it is named, and its arguments.
    pub argv: Vec<String>,
    /// The program that confirms an act.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirm: Option<Confirm>,
    /// Where it runs.
    pub cwd: String,
    /// The digest of all of it, which the intent row of its act has too.
    pub digest: Digest,
    /// The names of the variables that it asks for.
    pub env: Vec<String>,
    /// Its further files.
    pub files: Vec<Bind>,
    /// Where its programs are searched.
    pub path: String,
    /// The program's file.
    pub program: Bind,
}

/// A program that confirms an act.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Confirm {
    /// The program as it is named, and its arguments.
    pub argv: Vec<String>,
    /// The program's file.
    pub program: Bind,
}

impl Identity {
    /// The executor's programs and files, each with a word for what it is.
    pub fn parts(&self) -> impl Iterator<Item = (&'static str, &Bind)> {
        let confirm = self.confirm.as_ref().map(|confirm| ("confirm", &confirm.program));
        let files = self.files.iter().map(|file| ("file", file));
        std::iter::once(("program", &self.program)).chain(confirm).chain(files)
    }

    /// The first thing in which the executor is now another one, in words.
    pub fn changed(&self, now: &Identity) -> Option<String> {
        if self == now {
            return None;
        }
        let since = "changed since the grant was minted";
        if let Some(key) = self.changed_key(now) {
            return Some(format!("the executor's `{key}` has {since}"));
        }
        let mut pairs = self.parts().zip(now.parts());
        let what = match pairs.find(|((_, then), (_, now))| then != now) {
            Some(((what, then), (_, now))) if then.path != now.path => {
                return Some(format!(
                    "the executor's {what} is now {}; it was {} when the grant was minted",
                    now.path, then.path
                ));
            }
            Some(((what, then), _)) => format!("{what} {}", then.path),
            // The parts are the same, and their digest is made otherwise, or of another name.
            None => "digest".to_owned(),
        };
        Some(format!("the executor's {what} has {since}"))
    }

    /// The first key of the definition that says something else now.
    fn changed_key(&self, now: &Identity) -> Option<&'static str> {
        let confirm = |of: &Identity| of.confirm.as_ref().map(|confirm| confirm.argv.clone());
        let keys = [
            ("argv", self.argv == now.argv),
            ("cwd", self.cwd == now.cwd),
            ("path", self.path == now.path),
            ("env", self.env == now.env),
            ("confirm", confirm(self) == confirm(now)),
            ("files", self.files.iter().map(|f| &f.path).eq(now.files.iter().map(|f| &f.path))),
        ];
        keys.into_iter().find(|(_, same)| !same).map(|(key, _)| key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bind(path: &str, bytes: &str) -> Bind {
        Bind { path: path.parse().unwrap(), sha256: Digest::of(bytes.as_bytes()) }
    }

    fn identity() -> Identity {
        Identity {
            argv: vec!["./send.sh".into(), "--now".into()],
            confirm: Some(Confirm {
                argv: vec!["is_sent".into()],
                program: bind("/bin/is_sent", ""),
            }),
            cwd: "/home/ada".into(),
            digest: Digest::of(b"all"),
            env: vec!["MAIL_KEY".into()],
            files: vec![bind("/home/ada/list", "1"), bind("/home/ada/text", "2")],
            path: "/usr/bin:/bin".into(),
            program: bind("/home/ada/./send.sh", "#!/bin/sh"),
        }
    }

    #[test]
    fn what_changed_is_named() {
        assert_eq!(identity().changed(&identity()), None);
        type Change = fn(&mut Identity);
        let changes: [(Change, &str); 13] = [
            (|i| i.argv.push("x".into()), "`argv` has"),
            (|i| i.cwd.push('x'), "`cwd` has"),
            (|i| i.path.push('x'), "`path` has"),
            (|i| i.env.clear(), "`env` has"),
            (|i| i.confirm = None, "`confirm` has"),
            (|i| i.confirm.as_mut().unwrap().argv.clear(), "`confirm` has"),
            (|i| i.files.reverse(), "`files` has"),
            (|i| i.files.truncate(1), "`files` has"),
            (|i| i.program.sha256 = Digest::of(b"x"), "program /home/ada/./send.sh has"),
            (
                |i| i.program.path = "/x".parse().unwrap(),
                "program is now /x; it was /home/ada/./send.sh when the grant was minted",
            ),
            (
                |i| i.confirm.as_mut().unwrap().program.sha256 = Digest::of(b"x"),
                "confirm /bin/is_sent has",
            ),
            (|i| i.files[1].sha256 = Digest::of(b"x"), "file /home/ada/text has"),
            (|i| i.digest = Digest::of(b"x"), "digest has"),
        ];
        for (change, named) in changes {
            let mut now = identity();
            change(&mut now);
            let changed = identity().changed(&now).unwrap();
            assert!(changed.starts_with(&format!("the executor's {named}")), "{changed}");
            assert!(now.changed(&identity()).is_some());
        }
    }

    #[test]
    fn its_form_is_frozen() {
        let bind = |path: &str, bytes: &str| {
            format!(r#"{{"path":"{path}","sha256":"{}"}}"#, Digest::of(bytes.as_bytes()))
        };
        let frozen = format!(
            r#"{{"argv":["./send.sh","--now"],"confirm":{{"argv":["is_sent"],"program":{}}},"cwd":"/home/ada","digest":"{}","env":["MAIL_KEY"],"files":[{},{}],"path":"/usr/bin:/bin","program":{}}}"#,
            bind("/bin/is_sent", ""),
            Digest::of(b"all"),
            bind("/home/ada/list", "1"),
            bind("/home/ada/text", "2"),
            bind("/home/ada/./send.sh", "#!/bin/sh"),
        );
        assert_eq!(serde_json::to_string(&identity()).unwrap(), frozen);
        assert_eq!(serde_json::from_str::<Identity>(&frozen).unwrap(), identity());
    }
}
