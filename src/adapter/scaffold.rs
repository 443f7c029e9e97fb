//! Writes a first adapter for a user's structure from a template (`interlap new`).

use std::io::Write;
use std::path::{Path, PathBuf};

use super::cache::IoError;
use super::compile::Language;
use super::sources::Sources;

/// The word in the templates that stands for the adapter's name.
const PLACEHOLDER: &str = "NAME";

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
    #[error("no family {family}; the families are {}", family_names())]
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

fn extension(language: Language) -> &'static str {
    match language {
        Language::C => "c",
        Language::Cpp => "cpp",
    }
}

fn write(
    template: &str,
    name: &str,
    extension: &str,
    directory: &Path,
) -> Result<PathBuf, ScaffoldError> {
    if !is_name(name) {
        return Err(ScaffoldError::BadName { name: name.to_string() });
    }
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

fn is_name(name: &str) -> bool {
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
