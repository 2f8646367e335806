//! What the fuzzer looks for, over the bytes that it has come upon so far: `fuzz/corpus`.

use std::path::Path;

#[path = "../../../../fuzz/src/lib.rs"]
mod fuzz;

/// Runs a target over its corpus, and over a file without a byte.
fn replay(name: &str, run: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(name);
    let files = std::fs::read_dir(&folder).unwrap();
    let mut paths: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    paths.sort();
    assert!(!paths.is_empty(), "{}", folder.display());
    run(b"");
    for path in paths {
        println!("{}", path.display());
        run(&std::fs::read(path).unwrap());
    }
}

macro_rules! corpora {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            replay(stringify!($name), fuzz::$name::run);
        })*

        #[test]
        fn every_target_is_replayed() {
            let targets = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/fuzz_targets");
            let files = std::fs::read_dir(targets).unwrap();
            let mut found: Vec<_> = files.map(|file| file.unwrap().file_name()).collect();
            found.sort();
            assert_eq!(found, [$(concat!(stringify!($name), ".rs")),*]);
        }
    };
}

corpora! {
    arguments brief config decisions direct dispatch frames grant index json lag ledger note proof row spend text trust
    verify
}
