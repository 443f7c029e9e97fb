//! Paths without `..`, and relative to a folder, by their names alone.

use std::path::{Component, Path, PathBuf};

/// The path without `.` and `..`.
pub fn normalised(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if plain.file_name().is_some() => drop(plain.pop()),
            // Above the root is the root.
            Component::ParentDir if plain.has_root() => {}
            part => plain.push(part),
        }
    }
    plain
}

/// The way from a folder to a path, both absolute.
pub fn relative(path: &Path, folder: &Path) -> PathBuf {
    let (path, folder) = (normalised(path), normalised(folder));
    let common = path.components().zip(folder.components()).take_while(|(a, b)| a == b).count();
    let up = folder.components().skip(common).map(|_| Component::ParentDir);
    up.chain(path.components().skip(common)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_relative_path_leads_from_the_folder_to_the_file() {
        let folder = Path::new("/p/tests/findings/x-1");
        for (path, way) in [
            ("/p/tests/x.cpp", "../../x.cpp"),
            ("/p/tests/../include/q.h", "../../../include/q.h"),
            ("/p/tests/findings/x-1/q.h", "q.h"),
            ("/q.h", "../../../../q.h"),
        ] {
            assert_eq!(relative(Path::new(path), folder), Path::new(way));
            assert_eq!(normalised(&folder.join(way)), normalised(Path::new(path)));
        }
        assert_eq!(normalised(Path::new("/../a/./b/..")), Path::new("/a"));
        assert_eq!(normalised(Path::new("../a")), Path::new("../a"));
    }
}
