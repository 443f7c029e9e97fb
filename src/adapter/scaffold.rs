//! Writes a first adapter for a user's structure from a template, or a first model (`interlap
//! new`).

use std::io::Write;
use std::path::{Path, PathBuf};

use super::cache::IoError;
use super::compile::Language;
use super::sources::Sources;

/// The word in the templates that stands for the adapter's name.
const PLACEHOLDER: &str = "NAME";

/// Instead of a family: the crate of a model.
pub const MODEL: &str = "model";

/// The files of that crate.
const MODEL_FILES: [(&str, &str); 2] = [
    ("Cargo.toml", include_str!("../../ffi/templates/model.toml")),
    ("src/main.rs", include_str!("../../ffi/templates/model.rs")),
];

/// The word in them that stands for where interlap's library is.
const LIBRARY: &str = "LIBRARY";

/// Keywords of C++, which cannot be names.
const KEYWORDS: &str = "alignas alignof and and_eq asm auto bitand bitor bool break case catch \
    char char16_t char32_t class compl const const_cast constexpr continue decltype default \
    delete do double dynamic_cast else enum explicit export extern false float for friend goto \
    if inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq \
    private protected public register reinterpret_cast return short signed sizeof static \
    static_assert static_cast struct switch template this thread_local throw true try typedef \
    typeid typename union unsigned using virtual void volatile wchar_t while xor xor_eq";

#[derive(Debug, thiserror::Error)]
pub enum ScaffoldError {
    #[error("no family {family}; the families are {}; and there is {MODEL}", family_names())]
    UnknownFamily { family: String },
    #[error(
        "{name}: not a name for an adapter: letters, digits and underscores, not beginning with \
         a digit, not a word of C++; for example my_queue"
    )]
    BadName { name: String },
    #[error("{} exists already; choose another name, or move it away", path.display())]
    Exists { path: PathBuf },
    #[error(transparent)]
    Io(#[from] IoError),
}

/// The families that have a template.
fn family_names() -> String {
    Sources::EMBEDDED.templates(extension(Language::Cpp)).collect::<Vec<_>>().join(", ")
}

/// Writes `NAME.cpp` or `NAME.c` in `directory` from the family's template. Returns its path.
pub fn new_adapter(
    language: Language,
    family: &str,
    name: &str,
    directory: &Path,
) -> Result<PathBuf, ScaffoldError> {
    let extension = extension(language);
    match Sources::EMBEDDED.template(family, extension) {
        Some(template) => write(template, name, extension, directory),
        None => Err(ScaffoldError::UnknownFamily { family: family.to_string() }),
    }
}

pub fn extension(language: Language) -> &'static str {
    match language {
        Language::C => "c",
        Language::Cpp => "cpp",
    }
}

pub fn write(
    template: &str,
    name: &str,
    extension: &str,
    directory: &Path,
) -> Result<PathBuf, ScaffoldError> {
    check_name(name)?;
    let path = directory.join(format!("{name}.{extension}"));
    let mut file = match std::fs::File::create_new(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            return Err(ScaffoldError::Exists { path });
        }
        result => result.map_err(IoError::at(&path))?,
    };
    file.write_all(filled(template, name).as_bytes()).map_err(IoError::at(&path))?;
    Ok(path)
}

/// Writes the crate `NAME` of a model in `directory`. Returns its folder.
pub fn new_model(name: &str, directory: &Path) -> Result<PathBuf, ScaffoldError> {
    check_name(name)?;
    let folder = directory.join(name);
    match std::fs::create_dir(&folder) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            return Err(ScaffoldError::Exists { path: folder });
        }
        result => result.map_err(IoError::at(&folder))?,
    }
    let source = folder.join("src");
    std::fs::create_dir(&source).map_err(IoError::at(&source))?;
    for (file, template) in MODEL_FILES {
        let path = folder.join(file);
        let text = filled(template, name).replace(LIBRARY, &library());
        std::fs::write(&path, text).map_err(IoError::at(&path))?;
    }
    Ok(folder)
}

/// Where the sources are that this program was built from, if they are still there.
fn library() -> String {
    let sources = env!("CARGO_MANIFEST_DIR");
    match Path::new(sources).join("Cargo.toml").is_file() {
        true => format!("path = {sources:?}"),
        false => format!("version = {:?}", env!("CARGO_PKG_VERSION")),
    }
}

fn check_name(name: &str) -> Result<(), ScaffoldError> {
    match is_name(name) {
        true => Ok(()),
        false => Err(ScaffoldError::BadName { name: name.to_string() }),
    }
}

pub fn is_name(name: &str) -> bool {
    let starts_well = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    starts_well && name.chars().all(is_of_word) && !KEYWORDS.split(' ').any(|word| word == name)
}

fn is_of_word(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_'
}

/// The template with each whole word `NAME` replaced; `IL_NAME` is another word.
fn filled(template: &str, name: &str) -> String {
    let mut text = String::with_capacity(template.len());
    let mut end = 0;
    for (at, found) in template.match_indices(PLACEHOLDER) {
        let (before, after) = (&template[..at], &template[at + found.len()..]);
        if !before.ends_with(is_of_word) && !after.starts_with(is_of_word) {
            text.push_str(&template[end..at]);
            text.push_str(name);
            end = at + found.len();
        }
    }
    text + &template[end..]
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEMPLATE: &str = "// NAME: a queue.\nstruct NAME {}; // FILENAME, NAMES\nTARGET(NAME)";

    #[test]
    fn the_template_is_filled_in() {
        let folder = tempfile::tempdir().expect("temp folder");
        let path = write(TEMPLATE, "my_queue", "cpp", folder.path()).expect("written");
        assert_eq!(path, folder.path().join("my_queue.cpp"));
        let text = std::fs::read_to_string(path).expect("read");
        let expected = "// my_queue: a queue.\nstruct my_queue {}; // FILENAME, NAMES\n\
            TARGET(my_queue)";
        assert_eq!(text, expected);
    }

    #[test]
    fn a_model_is_a_crate() {
        let folder = tempfile::tempdir().expect("temp folder");
        let written = new_model("my_model", folder.path()).expect("written");
        let manifest = std::fs::read_to_string(written.join("Cargo.toml")).expect("read");
        assert!(manifest.contains("name = \"my_model\""), "{manifest}");
        assert!(manifest.contains(&format!("path = {:?}", env!("CARGO_MANIFEST_DIR"))));
        let source = std::fs::read_to_string(written.join("src/main.rs")).expect("read");
        assert!(source.contains("--model-crate my_model"), "{source}");
        let again = new_model("my_model", folder.path()).expect_err("it is there");
        assert!(matches!(again, ScaffoldError::Exists { .. }), "{again}");
    }

    #[test]
    fn nothing_is_overwritten() {
        let folder = tempfile::tempdir().expect("temp folder");
        let path = folder.path().join("q.cpp");
        std::fs::write(&path, "mine").expect("write");
        let error = write(TEMPLATE, "q", "cpp", folder.path()).expect_err("exists");
        assert!(matches!(error, ScaffoldError::Exists { .. }), "{error}");
        assert_eq!(std::fs::read_to_string(path).expect("read"), "mine");
    }

    #[test]
    fn invalid_names_are_refused() {
        let folder = tempfile::tempdir().expect("temp folder");
        for name in ["", "1st", "a-b", "../q", "a b", "new", "größe"] {
            let error = write(TEMPLATE, name, "cpp", folder.path()).expect_err(name);
            assert!(matches!(error, ScaffoldError::BadName { .. }), "{error}");
        }
        assert_eq!(std::fs::read_dir(folder.path()).expect("folder").count(), 0);
    }

    #[test]
    fn an_unknown_family_lists_the_known() {
        let error = new_adapter(Language::C, "heap", "q", Path::new(".")).expect_err("unknown");
        let message = error.to_string();
        for family in ["queue", "range-set", "counter", "log", "priority-queue"] {
            assert!(message.contains(family), "no {family} in: {message}");
        }
    }

    #[test]
    fn every_family_has_a_template_in_c_and_in_cpp() {
        let of = |extension| Sources::EMBEDDED.templates(extension).collect::<Vec<_>>();
        assert_eq!(of("c"), of("cpp"));
        assert!(of("c").len() >= 12);
    }
}
