//! Files that agents do not read: what looks like a secret by its name.

use super::path::ProjectPath;
use super::pattern::fold;

/// Names of files and folders that hold secrets.
const NAMES: [&str; 12] = [
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".htpasswd",
    ".git-credentials",
    ".ssh",
    ".gnupg",
    ".aws",
    ".kube",
    ".docker",
    ".terraform",
];

/// What such names begin with.
const BEGINNINGS: [&str; 3] = [".env", "id_", "credentials"];

/// What such names end with.
const ENDINGS: [&str; 9] =
    [".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".tfstate", ".tfstate.backup"];

/// Whether a file's name, or that of a folder on the way to it, is one that secrets have, in any case.
///
/// A name is only a name: a secret in another file is read.
pub fn looks_secret(path: &ProjectPath) -> bool {
    path.segments().any(|segment| {
        let name = fold(segment);
        NAMES.contains(&&*name)
            || BEGINNINGS.iter().any(|begin| name.starts_with(begin))
            || ENDINGS.iter().any(|end| name.ends_with(end))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_known_in_any_case_and_at_any_depth() {
        let secret = |path: &str| looks_secret(&ProjectPath::parse(path).unwrap());
        for path in [
            ".env",
            "a/.ENV",
            ".env.local",
            ".envrc",
            "aws/credentials.csv",
            "infra/prod.tfstate",
            "id_rsa",
            "a/id_ed25519.pub",
            "tls/server.PEM",
            ".ssh/config",
            "app.key",
        ] {
            assert!(secret(path), "{path}");
        }
        for path in ["env", "src/env.rs", "ids.txt", "pem/readme", "keys.md", "environment"] {
            assert!(!secret(path), "{path}");
        }
    }
}
