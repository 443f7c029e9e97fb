//! Files that are written whole or not at all, folders of scratch files, and names from data that
//! become paths.

use std::borrow::Cow;
use std::fs::{self, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path};

use serde::{Deserialize, Deserializer, de};
use tempfile::TempDir;

/// A folder of scratch files that only this user can enter, removed when it is dropped.
pub fn scratch() -> io::Result<TempDir> {
    scratch_in(&std::env::temp_dir(), "interlap-")
}

/// The same below `folder`; its name begins with `prefix`.
pub fn scratch_in(folder: &Path, prefix: &str) -> io::Result<TempDir> {
    let only_ours = Permissions::from_mode(0o700);
    tempfile::Builder::new().prefix(prefix).permissions(only_ours).tempdir_in(folder)
}

/// Writes a file in one step: after a failure the old one is still there, and nobody sees a part of
/// the new one. A link is replaced, not followed.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace_with(path, |file| file.write_all(bytes))
}

/// [`replace`] for a file that `write` writes piece by piece.
pub fn replace_with(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let file = tempfile::Builder::new()
        .prefix(".interlap-")
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(folder.unwrap_or(Path::new(".")))?;
    let mut buffer = BufWriter::new(file);
    write(&mut buffer)?;
    buffer.into_inner().map_err(io::IntoInnerError::into_error)?.persist(path)?;
    Ok(())
}

/// Writes a file that the user names. An ordinary file is [replaced](replace), also one that a link
/// leads to; a pipe, a terminal or another device is written to.
pub fn put(path: &Path, bytes: &[u8]) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => replace(&fs::canonicalize(path)?, bytes),
        Err(_) if fs::symlink_metadata(path).is_err() => replace(path, bytes),
        // Also a link to a file that is not there yet.
        _ => fs::write(path, bytes),
    }
}

/// The most that is read of a file that is read as a whole.
const READ_BYTES_MAX: u64 = 1 << 30;

/// Reads a file. Pipes, devices and files above 1 GiB are errors: a file of others may be a link to
/// one that never ends.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let metadata = fs::metadata(path)?;
    if !metadata.is_file() {
        return Err(io::Error::other("it is no ordinary file"));
    }
    if metadata.len() > READ_BYTES_MAX {
        return Err(io::Error::other("it is larger than 1 GiB"));
    }
    fs::read(path)
}

/// Whether each part of the path is an ordinary name, so that it leads below any folder that it is
/// joined to.
pub fn is_below(path: &Path) -> bool {
    let has_zero = path.as_os_str().as_encoded_bytes().contains(&0);
    let mut parts = path.components().peekable();
    !has_zero && parts.peek().is_some() && parts.all(|part| matches!(part, Component::Normal(_)))
}

/// Whether the name is one plain component of a path: no separator, neither `.` nor `..`.
pub fn is_component(name: &str) -> bool {
    is_below(Path::new(name)) && !name.contains('/')
}

fn checked<E: de::Error>(name: &str, is_plain: bool) -> Result<(), E> {
    match is_plain {
        true => Ok(()),
        false => Err(E::custom(format!("{name:?} is not a plain name of a folder"))),
    }
}

/// The largest count that is read from a file: sums of counts stay far below 64 bits.
pub const COUNT_MAX: u64 = 1 << 50;

/// For `deserialize_with`: the name of a folder below another one.
pub fn name<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let name = Cow::<str>::deserialize(from)?;
    checked(&name, is_below(Path::new(&*name)))?;
    Ok(name.into_owned())
}

/// For `deserialize_with`: a list of names of which each is a component of a path.
pub fn names<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    let names = Vec::<String>::deserialize(from)?;
    names.iter().try_for_each(|name| checked(name, is_component(name)))?;
    Ok(names)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;

    #[test]
    fn only_plain_names_are_components() {
        for name in ["queue-1a2b", "..x", ".x", "a b", "\u{1b}x", "ä"] {
            assert!(is_component(name), "{name:?}");
        }
        for name in ["", ".", "..", "/", "/x", "x/", "x/y", "../x", "./x", "x/..", "a\0b"] {
            assert!(!is_component(name), "{name:?}");
        }
        assert!(is_below(Path::new("adapter/q.cpp")) && !is_below(Path::new("adapter/../../q")));
    }

    #[test]
    fn only_this_user_can_enter_scratch_folders() {
        let mode = |path: &Path| fs::metadata(path).expect("there").mode() & 0o7777;
        let folder = scratch().expect("room");
        assert_eq!(mode(folder.path()), 0o700);
        let below = scratch_in(folder.path(), "x-").expect("room");
        assert_eq!(mode(below.path()), 0o700);
    }

    #[test]
    fn a_file_is_replaced_as_a_whole_and_a_link_is_not_followed() {
        let folder = scratch().expect("room");
        let [kept, link] = ["kept", "link"].map(|name| folder.path().join(name));
        fs::write(&kept, "old").expect("room");
        let broken = replace_with(&kept, |file| {
            file.write_all(b"half")?;
            Err(io::Error::other("the disk is full"))
        });
        assert!(broken.is_err() && fs::read(&kept).expect("there") == b"old");
        std::os::unix::fs::symlink(&kept, &link).expect("room");
        replace(&link, b"new").expect("room");
        assert_eq!(fs::read(&kept).expect("there"), b"old");
        assert_eq!(fs::read(&link).expect("there"), b"new");
        assert_eq!(fs::read_dir(folder.path()).expect("there").count(), 2, "nothing is left over");
    }

    #[test]
    fn what_the_user_names_may_be_a_link_or_a_device() {
        let folder = scratch().expect("room");
        let [kept, link] = ["kept", "link"].map(|name| folder.path().join(name));
        put(&kept, b"old").expect("room");
        let before = fs::metadata(&kept).expect("there").ino();
        std::os::unix::fs::symlink(&kept, &link).expect("room");
        put(&link, b"new").expect("room");
        assert_eq!(fs::read(&kept).expect("there"), b"new");
        assert_ne!(fs::metadata(&kept).expect("there").ino(), before, "replaced in one step");
        assert!(fs::symlink_metadata(&link).expect("there").is_symlink());
        put(Path::new("/dev/null"), b"new").expect("a device");
        assert!(put(Path::new("/dev/full"), b"new").is_err());
    }

    #[test]
    fn what_never_ends_is_not_read() {
        assert!(read(Path::new("/dev/zero")).is_err());
        assert!(read(Path::new("/proc/self/stat")).is_ok());
    }
}
