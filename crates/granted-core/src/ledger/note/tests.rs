use super::*;

/// The example of the Go package that notes come from.
const PETER: &str = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
const PETERS_SECRET: &str = "AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz";
const TEXT: &str = "If you think cryptography is the answer to your problem,\n\
                    then you don't know what your problem is.\n";
const SIGNED: &str = "— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n";

/// The example of the text that specifies them.
const FOO: &str = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k";
const FOO_NOTE: &str = "This is an example message.\n\n— example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=\n";

fn peter() -> Signer {
    let secret = Base64::decode_vec(PETERS_SECRET).unwrap();
    Signer::new("PeterNeumann".parse().unwrap(), secret[1..].try_into().unwrap())
}

#[test]
fn notes_of_others_are_read_and_written() {
    let note = format!("{TEXT}\n{SIGNED}");
    let verifier: Verifier = PETER.parse().unwrap();
    assert_eq!(Note::parse(&note).unwrap().verify(&verifier), Ok(TEXT));
    assert_eq!(peter().verifier(), verifier);
    assert_eq!(peter().sign(TEXT), note);
    let foo: Verifier = FOO.parse().unwrap();
    let read = Note::parse(FOO_NOTE).unwrap();
    assert_eq!(read.verify(&foo), Ok("This is an example message.\n"));
    assert_eq!(read.verify(&verifier), Err(NoteError::NotSigned(Box::new(verifier.clone()))));
    for key in [PETER, FOO] {
        assert_eq!(key.parse::<Verifier>().unwrap().to_string(), key);
    }
}

#[test]
fn other_signatures_are_ignored_and_a_wrong_one_spoils_it() {
    let verifier: Verifier = PETER.parse().unwrap();
    let stranger = Signer::new("PeterNeumann".parse().unwrap(), &[9; 32]);
    let line = |note: &str| note.rsplit_once("\n\n").unwrap().1.to_owned();
    let others = line(&stranger.sign(TEXT));
    for (lines, expected) in [
        (format!("{others}{SIGNED}"), Ok(TEXT)),
        (format!("{SIGNED}{SIGNED}"), Ok(TEXT)),
        (others.clone(), Err(NoteError::NotSigned(Box::new(verifier.clone())))),
        (
            format!("{SIGNED}{}", SIGNED.replace("JnAM=", "JnAI=")),
            Err(NoteError::BadSignature(Box::new(verifier.clone()))),
        ),
        (
            format!("{}{SIGNED}", line(&peter().sign("another text\n"))),
            Err(NoteError::BadSignature(Box::new(verifier.clone()))),
        ),
    ] {
        let note = format!("{TEXT}\n{lines}");
        let read = Note::parse(&note).unwrap_or_else(|e| panic!("{e}: {note}"));
        assert_eq!(read.verify(&verifier), expected, "{note}");
    }
}

#[test]
fn no_byte_can_be_changed() {
    let signer = peter();
    let signed = signer.sign("a\n");
    assert_eq!(Note::parse(&signed).unwrap().verify(&signer.verifier()), Ok("a\n"));
    for at in 0..signed.len() {
        for flip in [1, 2, 32, 64] {
            let mut bytes = signed.clone().into_bytes();
            bytes[at] ^= flip;
            let Ok(text) = String::from_utf8(bytes) else { continue };
            let verified = Note::parse(&text).map(|note| note.verify(&signer.verifier()).is_ok());
            assert_ne!(verified, Ok(true), "{text}");
        }
    }
}

#[test]
fn what_is_no_note_is_refused() {
    let note = format!("{TEXT}\n{SIGNED}");
    let long = format!("{}\n{SIGNED}", "a\n".repeat(MAX_NOTE / 2));
    for bad in [
        "",
        "\n",
        "\n\n",
        TEXT,
        SIGNED,
        &format!("\n{SIGNED}"),
        &format!("{TEXT}{SIGNED}"),
        &format!("{TEXT}\n"),
        &format!("{TEXT}\n\n"),
        &format!("{note}\n"),
        &format!("{note}x\n"),
        note.trim_end(),
        &note.replace('—', "-"),
        &note.replace("— ", "—"),
        &note.replace(" x08", "  x08"),
        &note.replace("PeterNeumann", ""),
        &note.replace("PeterNeumann", "Peter+Neumann"),
        &note.replace("PeterNeumann", "Peter\u{a0}Neumann"),
        &note.replace("nAM=", "nAM"),
        &note.replace("nAM=", "nAN="),
        &note.replace("nAM=", "nAM= "),
        &note.replace("your problem is", "your\tproblem is"),
        &note.replace('\n', "\r\n"),
        "a\n\n— a AAAAAA==\n",
        &long,
    ] {
        assert!(Note::parse(bad).is_err(), "{bad:?}");
    }
    for bad in [
        "",
        "PeterNeumann",
        &PETER.replace("c74f20a3", "c74f20a4"),
        &PETER.replace("c74f20a3", "C74F20A3"),
        &PETER.replace("c74f20a3", ""),
        &PETER.replace("+AR", "+Ap"),
        &PETER.replace("10TW", "10T"),
        &PETER.replace("PeterNeumann", "Peter Neumann"),
        &format!("{PETER}\n"),
    ] {
        assert!(bad.parse::<Verifier>().is_err(), "{bad}");
    }
}

#[test]
fn a_key_survives_its_pem() {
    let pem = peter().to_pem();
    assert!(pem.starts_with("-----BEGIN PRIVATE KEY-----\n"), "{}", *pem);
    let name: KeyName = "PeterNeumann".parse().unwrap();
    assert_eq!(Signer::from_pem(name.clone(), &pem).unwrap().sign(TEXT), peter().sign(TEXT));
    for bad in ["", "-----BEGIN PRIVATE KEY-----\n", &pem[..40], &pem.replace("PRIVATE", "PUBLIC")]
    {
        assert!(Signer::from_pem(name.clone(), bad).is_err(), "{bad}");
    }
}
