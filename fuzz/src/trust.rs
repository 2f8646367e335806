//! Keys, signatures and what is signed are read to the letter: what was read gives the same text when it is
//! written, and no signature that comes is one over a statement of ours.

use granted_core::decision::Grant;
use granted_core::trust::{PublicKey, SecretKey, Signature, Statement, sshsig};

/// The statement of a grant.
const STATEMENT: &[u8] = include_bytes!("../corpus/trust/statement");

pub fn run(bytes: &[u8]) {
    let ours = Statement::read_grant(STATEMENT).expect("the seed is a statement");
    let ours = Statement::grant(&ours);
    if let Some(grant) = Statement::read_grant(bytes) {
        assert_eq!(Statement::grant(&grant).bytes(), bytes);
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(key) = PublicKey::from_file(text) {
        assert_eq!(key.to_string().parse(), Ok(key.clone()));
        assert_eq!(PublicKey::from_wire(&key.to_wire()), Ok(key));
    }
    if let Ok((signature, key)) = sshsig::parse(text) {
        assert_eq!(
            sshsig::parse(&sshsig::armored(&signature)),
            Ok((signature.clone(), key.clone()))
        );
        assert!(signature.verify(&key, &ours).is_err());
    }
    if let Ok(signature) = serde_json::from_str::<Signature>(text) {
        let written = serde_json::to_string(&signature).expect("it is JSON");
        assert_eq!(serde_json::from_str::<Signature>(&written).ok(), Some(signature));
    }
    if let Ok(grant) = serde_json::from_str::<Grant>(text) {
        let statement = Statement::grant(&grant);
        assert!(Statement::read_grant(&statement.bytes()).is_some());
    }
    // Without the password nothing is opened.
    assert!(SecretKey::open(text, b"no such password").is_err());
}
