use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};

use super::*;

/// A home with `a/b/file` in it.
fn home() -> (tempfile::TempDir, Folder) {
    let dir = tempfile::tempdir().unwrap();
    let folder = Folder::new(dir.path()).within(&dir.path().join("a/b"));
    folder.make().unwrap().file("file", open::create_at).unwrap();
    (dir, folder)
}

fn set(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn read(folder: &Folder) -> Result<Kept<File>, OpenError> {
    folder.file("file", open::read_at).and_then(Kept::sound)
}

/// What keeps the file from being relied on, which is to be said of this path.
#[track_caller]
fn refused(folder: &Folder, path: &Path, why: &str) {
    let text = read(folder).unwrap_err().to_string();
    assert!(text.starts_with(&format!("`{}` {why}", path.display())), "{text}");
}

#[test]
fn every_step_from_the_home_down_is_asked() {
    let (dir, folder) = home();
    let of = |name: &str| dir.path().join(name);
    read(&folder).unwrap();
    for name in ["", "a", "a/b", "a/b/file"] {
        let (path, mode) = match name {
            "" => (dir.path().to_owned(), 0o700),
            "a/b/file" => (of(name), 0o600),
            name => (of(name), 0o700),
        };
        set(&path, mode | 0o020);
        refused(&folder, &path, "may be written by its group (mode 0");
        set(&path, mode | 0o1002);
        refused(&folder, &path, "may be written by everybody (mode 1");
        set(&path, mode | 0o055);
        read(&folder).unwrap();
        // Only root can give a file away.
        if rustix::process::geteuid().is_root() {
            chown(&path, Some(12_345), None).unwrap();
            refused(&folder, &path, "belongs to another user (uid 12345)");
            chown(&path, Some(0), None).unwrap();
        }
        set(&path, mode);
    }
    // What lies above the home is no part of it.
    let inner = Folder::new(of("a")).within(&of("a/b"));
    set(dir.path(), 0o777);
    read(&inner).unwrap();
    refused(&folder, dir.path(), "may be written by everybody");
}

#[test]
fn links_are_followed_to_the_home_and_nowhere_in_it() {
    let (dir, folder) = home();
    let link = dir.path().join("link");
    symlink(dir.path(), &link).unwrap();
    read(&Folder::new(&link).within(&link.join("a/b"))).unwrap();
    refused(
        &Folder::new(dir.path()).within(&link.join("a/b")),
        &link,
        "is a symbolic link, not a folder",
    );
    symlink("b", dir.path().join("a/c")).unwrap();
    let through = Folder::new(dir.path()).within(&dir.path().join("a/c"));
    refused(&through, &dir.path().join("a/c"), "is a symbolic link, not a folder");
    assert!(through.make().is_err());
    let file = folder.path().join("file");
    rustix::fs::rename(&file, folder.path().join("other")).unwrap();
    symlink("other", &file).unwrap();
    refused(&folder, &file, "is a symbolic link, not a regular file");
}

#[test]
fn what_lies_elsewhere_is_a_home_of_its_own() {
    let (dir, _) = home();
    let elsewhere = tempfile::tempdir().unwrap();
    let folder = Folder::new(dir.path()).within(&elsewhere.path().join("x"));
    folder.make().unwrap().file("file", open::create_at).unwrap();
    set(elsewhere.path(), 0o777);
    set(dir.path(), 0o777);
    read(&folder).unwrap();
    set(folder.path(), 0o770);
    refused(&folder, folder.path(), "may be written by its group (mode 0770)");
}

#[test]
fn from_a_folder_on_only_what_lies_below_counts() {
    let (dir, folder) = home();
    set(dir.path(), 0o770);
    let from_here = || folder.open().and_then(Kept::from_here);
    from_here().unwrap().file("file", open::read_at).unwrap().sound().unwrap();
    set(&folder.path().join("file"), 0o620);
    from_here().unwrap().file("file", open::read_at).unwrap().sound().unwrap_err();
    set(folder.path(), 0o770);
    from_here().unwrap_err();
}
