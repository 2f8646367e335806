#![expect(clippy::disallowed_methods, reason = "files and processes of the tests")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::*;

struct Store {
    dir: tempfile::TempDir,
    blobs: Blobs,
}

impl Store {
    fn new() -> Store {
        let dir = tempfile::tempdir().unwrap();
        let blobs = Blobs::beside(&Folder::new(dir.path()));
        Store { dir, blobs }
    }

    fn file(&self, digest: Digest) -> PathBuf {
        self.dir.path().join("blobs").join(digest.to_string())
    }

    fn names(&self) -> usize {
        fs::read_dir(self.dir.path().join("blobs")).unwrap().count()
    }
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn what_was_put_is_got_and_only_its_owner_may_read_it() {
    let store = Store::new();
    assert!(store.blobs.get(Digest::of(b"x")).unwrap().is_none());
    assert!(!store.dir.path().join("blobs").exists());
    let large = vec![7; 300_000];
    let contents: [&[u8]; 4] = [b"x", b"", &large, b"x"];
    let digests = store.blobs.put_all(&contents).unwrap();
    for (digest, bytes) in digests.iter().zip(contents) {
        assert_eq!(*digest, Digest::of(bytes));
        assert_eq!(store.blobs.get(*digest).unwrap().unwrap(), bytes);
        let file = store.file(*digest);
        assert_eq!((mode(&file), mode(file.parent().unwrap())), (0o600, 0o700));
    }
    assert_eq!(store.names(), 3);
    assert!(store.blobs.get(Digest::of(b"y")).unwrap().is_none());
}

#[test]
fn a_good_one_is_left_and_a_damaged_one_is_an_error_until_it_is_put_again() {
    let store = Store::new();
    let digest = store.blobs.put(b"good").unwrap();
    let file = store.file(digest);
    let inode = |file: &Path| std::os::unix::fs::MetadataExt::ino(&fs::metadata(file).unwrap());
    let before = inode(&file);
    store.blobs.put(b"good").unwrap();
    assert_eq!(inode(&file), before);
    for damage in [&b"gooD"[..], b"", b"good\n"] {
        fs::write(&file, damage).unwrap();
        let error = store.blobs.get(digest).unwrap_err();
        assert!(matches!(error, BlobError::Damaged(_)), "{error}");
        assert_eq!(store.blobs.put(b"good").unwrap(), digest);
        assert_eq!(store.blobs.get(digest).unwrap().unwrap(), b"good");
    }
    assert_eq!(store.names(), 1);
}

#[test]
fn what_is_no_file_is_an_error_and_is_not_waited_for() {
    let store = Store::new();
    let digest = store.blobs.put(b"good").unwrap();
    let file = store.file(digest);
    let other = store.dir.path().join("other");
    fs::write(&other, "good").unwrap();

    fs::remove_file(&file).unwrap();
    std::os::unix::fs::symlink(&other, &file).unwrap();
    assert!(store.blobs.get(digest).unwrap_err().to_string().contains("a symbolic link"));
    // It is replaced; what it led to is not.
    store.blobs.put(b"good").unwrap();
    assert!(fs::symlink_metadata(&file).unwrap().is_file() && other.is_file());

    fs::remove_file(&file).unwrap();
    rustix::fs::mknodat(rustix::fs::CWD, &file, rustix::fs::FileType::Fifo, 0o600.into(), 0)
        .unwrap();
    assert!(store.blobs.get(digest).unwrap_err().to_string().contains("a FIFO"));

    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    assert!(store.blobs.get(digest).unwrap_err().to_string().contains("a directory"));
    assert!(store.blobs.put(b"good").is_err());
    assert_eq!(store.names(), 1);

    // Nor is a folder that is a link.
    let folder = file.parent().unwrap();
    fs::remove_dir_all(folder).unwrap();
    std::os::unix::fs::symlink(store.dir.path(), folder).unwrap();
    assert!(store.blobs.get(digest).is_err() && store.blobs.put(b"good").is_err());
}

#[test]
fn what_is_too_large_is_neither_kept_nor_read() {
    let store = Store::new();
    let large = vec![0; MAX_BLOB + 1];
    assert!(store.blobs.put(&large).is_err());
    let digest = store.blobs.put(b"good").unwrap();
    fs::OpenOptions::new().write(true).open(store.file(digest)).unwrap().set_len(1 << 40).unwrap();
    assert!(matches!(store.blobs.get(digest).unwrap_err(), BlobError::Large(_)));
}
