//! Names files as SARIF artifact locations, relative to the root of the repository if they lie
//! below it.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use serde_json::{Value, json};

/// The name of the root.
pub const BASE: &str = "%SRCROOT%";
/// All characters but those that a URI's path may contain.
const ESCAPED: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'.').remove(b'_').remove(b'~');

pub struct Files {
    root: PathBuf,
}

impl Files {
    pub fn below(root: &Path) -> Files {
        Files { root: resolved(root) }
    }

    /// The root as a URI that ends with a slash.
    pub fn base(&self) -> String {
        let path = escaped(&self.root);
        format!("file://{}/", path.trim_end_matches('/'))
    }

    pub fn location(&self, file: &Path) -> Value {
        let file = resolved(&self.root.join(file));
        match file.strip_prefix(&self.root) {
            Ok(below) => json!({"uri": escaped(below), "uriBaseId": BASE}),
            Err(_) => json!({"uri": format!("file://{}", escaped(&file))}),
        }
    }
}

/// Without links and `..`, if the file exists.
fn resolved(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_path_buf())
}

fn escaped(path: &Path) -> String {
    percent_encode(path.as_os_str().as_bytes(), ESCAPED).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_uris() {
        let files = Files::below(Path::new("/no/such place"));
        assert_eq!(files.base(), "file:///no/such%20place/");
        let of = |path: &str| files.location(Path::new(path));
        assert_eq!(of("/no/such place/a#b.h"), json!({"uri": "a%23b.h", "uriBaseId": BASE}));
        assert_eq!(of("src/q.h"), json!({"uri": "src/q.h", "uriBaseId": BASE}));
        assert_eq!(of("/no/%/ä.h"), json!({"uri": "file:///no/%25/%C3%A4.h"}));
    }
}
