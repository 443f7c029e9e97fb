//! Makes the command lines that compile and link an adapter, and the key of their result.
//! The compiler's flags are put together here; `user_flags` only parses those of users.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::user_flags::{self, Flag};
use super::{Compiler, Error, Flavour, Language, Request};

/// Part of the key: changed when libraries of older versions must not be used.
const FORMAT: &str = "interlap library 1";

/// The arguments of one adapter's compilation, without the names of temporary files.
pub(super) struct Commands<'a> {
    /// What is compiled: the adapter first, then the sources of the library.
    pub(super) units: Vec<Unit<'a>>,
    link: Vec<OsString>,
    /// The folders searched for headers before the compiler's own.
    include_dirs: Vec<PathBuf>,
}

/// One source, which becomes one object.
pub(super) struct Unit<'a> {
    source: PathBuf,
    pub(super) compiler: &'a Compiler,
    arguments: Vec<OsString>,
}

/// `-fno-plt`, because hooks are called so often that jumps through a table cost time. No builtin
/// copies, because the compiler would expand small ones without hooks. No calls that are jumps: a
/// hook would return past the function that it is called in, and so be taken for another line.
const HOOKED: [&str; 8] = [
    "-O2",
    "-g",
    "-fsanitize=thread",
    "-fno-plt",
    "-fno-optimize-sibling-calls",
    "-fno-builtin-memcpy",
    "-fno-builtin-memmove",
    "-fno-builtin-memset",
];
/// Functions that access memory, when called by code with hooks: the harness wraps them to see the
/// accesses.
pub const WRAPPED: &str = "-Wl,--wrap=memcpy,--wrap=memmove,--wrap=memset";

impl Flavour {
    fn name(self) -> &'static str {
        match self {
            Flavour::Plain => "plain",
            Flavour::Hooked => "hooked",
        }
    }

    /// Its flags for the compiler, and for the linker.
    fn flags(self) -> (&'static [&'static str], &'static [&'static str]) {
        match self {
            // No undefined symbols: the linker reports a forgotten `-l` with the symbol's name,
            // before a process loads the library.
            Flavour::Plain => (&["-O2", "-g"], &["-Wl,--no-undefined"]),
            // The hooks are defined in the harness, so symbols may be undefined. Linking with
            // -fsanitize=thread would add the hooks of a race detector.
            Flavour::Hooked => (&HOOKED, &[WRAPPED]),
        }
    }
}

impl<'a> Commands<'a> {
    /// `request` is anchored, its flags are all that hold. Later flags win: the defaults come
    /// first, then the adapter's own flags, then the user's.
    pub(super) fn new(
        request: &Request,
        compiler: impl Fn(Language) -> Result<&'a Compiler, Error>,
        ffi: &Path,
    ) -> Result<Commands<'a>, Error> {
        let folder = request.source.parent().unwrap_or(Path::new("/"));
        let flags = Flag::parse(&request.flags);
        if let Some((flag, why)) = user_flags::unsupported(&flags) {
            return Err(Error::UnsupportedFlag { flag: flag.to_string(), why });
        }
        let mut include_dirs = request.include_dirs.clone();
        include_dirs.extend(flags.iter().filter_map(Flag::include_dir).map(Path::to_path_buf));
        include_dirs.extend([folder.to_path_buf(), ffi.to_path_buf()]);
        let unit = |source: &Path| -> Result<Unit<'a>, Error> {
            let compiler = compiler(Language::from_path(source)?)?;
            let mut arguments = compile(request, &flags, compiler, [folder, ffi]);
            // Warnings about the library are for its authors.
            arguments.extend((source != request.source).then_some("-w".into()));
            Ok(Unit { source: source.to_path_buf(), compiler, arguments })
        };
        let along = flags.iter().filter_map(Flag::source);
        let mut units: Vec<Unit> = Vec::new();
        for source in std::iter::once(&*request.source).chain(along) {
            if !units.iter().any(|unit| unit.source == source) {
                units.push(unit(source)?);
            }
        }
        Ok(Commands { units, link: link(request, &flags), include_dirs })
    }

    /// The folder in which the commands run. Their paths are absolute, except those inside flags
    /// such as `-Wl,--version-script=x`, which are relative to this folder.
    pub(super) fn folder(&self) -> &Path {
        self.units[0].source.parent().unwrap_or(Path::new("/"))
    }

    /// The compiler that links: the one for C++, if anything is C++.
    pub(super) fn linker(&self) -> &'a Compiler {
        let cpp = self.units.iter().find(|unit| unit.compiler.language == Language::Cpp);
        cpp.unwrap_or(&self.units[0]).compiler
    }

    pub(super) fn link(
        &self,
        objects: &[PathBuf],
        library: &Path,
        depfile: &Path,
    ) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = objects.iter().map(OsString::from).collect();
        arguments.extend(["-o".into(), library.into()]);
        arguments.extend(self.link.iter().cloned());
        // Not `-Wl,`: the path may hold a comma.
        let mut dependency_file = OsString::from("--dependency-file=");
        dependency_file.push(depfile);
        arguments.extend(["-Xlinker".into(), dependency_file]);
        arguments
    }

    /// All steps as one line, which users can paste into a shell to see the same errors.
    pub(super) fn one_line(&self) -> String {
        let mut command = self.linker().command();
        command.args(&self.units[0].arguments);
        for unit in &self.units {
            command.args(["-x", unit.compiler.language.option()]).arg(&unit.source);
        }
        command.args(["-x", "none"]).args(&self.link).args(["-o", "/dev/null"]);
        shell_line(&command)
    }

    /// The folders searched for headers, in order.
    pub(super) fn search_path(&self) -> Vec<PathBuf> {
        self.include_dirs.iter().chain(self.units[0].compiler.include_dirs()).cloned().collect()
    }

    /// The key of the result of these commands for an adapter with this `text`, as long as no other
    /// file changes. It is the file's stem, for people, and a hash.
    pub(super) fn key(&self, text: &[u8], flavour: Flavour) -> String {
        let mut hasher = blake3::Hasher::new();
        let mut add = |bytes: &[u8]| {
            hasher.update(&(bytes.len() as u64).to_le_bytes());
            hasher.update(bytes);
        };
        add(FORMAT.as_bytes());
        add(flavour.name().as_bytes());
        add(text);
        // With the lengths, a word that moves from one list to another changes the key.
        let mut add_list = |list: &[OsString]| {
            add(&(list.len() as u64).to_le_bytes());
            list.iter().for_each(|word| add(word.as_encoded_bytes()));
        };
        for Unit { source, compiler, arguments } in &self.units {
            add_list(&[source.into(), compiler.identity().into(), compiler.environment().into()]);
            let own = compiler.command();
            add_list(&own.get_args().map(OsString::from).collect::<Vec<_>>());
            add_list(&compiler.include_dirs().iter().map(OsString::from).collect::<Vec<_>>());
            add_list(arguments);
        }
        add_list(&self.link);
        let stem = self.units[0].source.file_stem().unwrap_or_default().to_string_lossy();
        let stem: String = stem.chars().take(48).collect();
        format!("{stem}-{}", &hasher.finalize().to_hex()[..16])
    }
}

impl Unit<'_> {
    pub(super) fn compile(&self, object: &Path, depfile: &Path) -> Vec<OsString> {
        let mut arguments = self.arguments.clone();
        arguments.extend(["-c".into(), self.source.clone().into(), "-o".into(), object.into()]);
        arguments.extend(["-MD".into(), "-MF".into(), depfile.into()]);
        arguments
    }

    /// The step that compiles it, as one line.
    pub(super) fn one_line(&self) -> String {
        let mut command = self.compiler.command();
        command.args(&self.arguments).arg("-c").arg(&self.source).args(["-o", "/dev/null"]);
        shell_line(&command)
    }
}

/// `request.flags` with their paths taken from `folder`.
pub(super) fn anchored(flags: &[String], folder: &Path) -> Vec<String> {
    Flag::parse(flags).into_iter().flat_map(|flag| flag.anchored(folder).words()).collect()
}

fn compile(
    request: &Request,
    flags: &[Flag],
    compiler: &Compiler,
    last_dirs: [&Path; 2],
) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = Vec::new();
    let mut add = |words: &[&str]| arguments.extend(words.iter().map(OsString::from));
    add(request.flavour.flags().0);
    if request.flavour == Flavour::Hooked {
        add(hooked(compiler.is_clang()));
    }
    // Symbols stay local to the library: the loader would otherwise merge two builds of one
    // template in one process, and a seeded bug would silently vanish.
    add(&["-fPIC", "-fvisibility=hidden", "-pthread"]);
    if compiler.language == Language::Cpp && !compiler.is_clang() {
        add(&["-fno-gnu-unique"]);
    }
    let own = compiler.command();
    let own_standard = own.get_args().any(|word| word.to_string_lossy().starts_with("-std="));
    let is_of_other = |flag: &Flag| flag.standard().is_some_and(|of| of != compiler.language);
    let is_standard = |flag: &Flag| flag.is_standard() && !is_of_other(flag);
    if !own_standard && !flags.iter().any(is_standard) {
        add(match compiler.language {
            // With exceptions, a thread that ends early runs its cleanup handlers.
            Language::C => &["-std=gnu11", "-fexceptions"],
            Language::Cpp => &["-std=c++17"],
        });
    }
    let include = |dir: &Path| [OsString::from("-I"), dir.into()];
    arguments.extend(request.include_dirs.iter().flat_map(|dir| include(dir)));
    let of_compiler =
        flags.iter().filter(|flag| !flag.is_of_linker() && !is_of_other(flag)).cloned();
    arguments.extend(of_compiler.flat_map(Flag::words).map(OsString::from));
    arguments.extend(last_dirs.into_iter().flat_map(include));
    if request.flavour == Flavour::Hooked {
        // Code that is generated when linking has no hooks.
        arguments.push("-fno-lto".into());
    }
    arguments
}

/// Selects the hooks: none at function entry and exit; separate ones for volatile accesses; also
/// for 16-byte atomics. `__SANITIZE_THREAD__` is undefined, because with it some libraries compile
/// other code than their users run.
fn hooked(clang: bool) -> &'static [&'static str] {
    match clang {
        true => &[
            "-mllvm",
            "-tsan-instrument-func-entry-exit=0",
            "-mllvm",
            "-tsan-distinguish-volatile",
            "-mcx16",
        ],
        false => &[
            "--param=tsan-instrument-func-entry-exit=0",
            "--param=tsan-distinguish-volatile=1",
            "-mcx16",
            "-Wno-tsan",
            "-U__SANITIZE_THREAD__",
            // GCC's debugging information omits inlined calls in the parts of split functions.
            "-fno-partial-inlining",
        ],
    }
}

/// The flags for code with hooks in a program of its own.
pub(super) fn hooks(clang: bool) -> Vec<&'static str> {
    let common = HOOKED.into_iter().filter(|flag| !["-O2", "-g", "-fno-plt"].contains(flag));
    common.chain(hooked(clang).iter().copied()).collect()
}

fn link(request: &Request, flags: &[Flag]) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = vec!["-shared".into(), "-pthread".into()];
    arguments.extend(request.flavour.flags().1.iter().map(OsString::from));
    for flag in flags.iter().filter(|flag| flag.source().is_none()) {
        arguments.extend(flag.clone().words().into_iter().map(OsString::from));
        // A shared library that -L finds when linking must also be found when loading.
        if let Flag::Path("-L", dir) = flag {
            let words = ["-Xlinker".into(), "-rpath".into(), "-Xlinker".into(), dir.into()];
            arguments.extend::<[OsString; 4]>(words);
        }
    }
    arguments.extend(request.libraries.iter().map(|library| format!("-l{library}").into()));
    arguments
}

fn shell_line(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let quoted = words.map(|word| {
        let word = word.to_string_lossy().into_owned();
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_=+/.,:@%".contains(c);
        match shlex::try_quote(&word) {
            Ok(quoted) if !word.chars().all(is_plain) => quoted.into_owned(),
            _ => word,
        }
    });
    quoted.collect::<Vec<_>>().join(" ")
}
