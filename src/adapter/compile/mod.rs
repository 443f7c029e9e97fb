//! Compiles an adapter to a shared library, or takes the library from the cache.
//! A [`Request`] names everything that decides the result. A cached library is used while none of
//! its inputs has changed. Bundled and users' adapters are compiled in the same way.
//!
//! - `command`: Makes the command lines that compile and link an adapter, and the key of their
//!   result.
//! - `compiler`: Finds the C and C++ compilers, their versions and their header folders.
//! - `error`: The errors of compiling an adapter, each with advice and the compiler's own messages.
//! - `facts`: What was found out about a compiler, kept in the cache: to ask it takes about as long
//!   as all else before a run's first round.
//! - `libatomic`: Detects whether a compiled target needs libatomic, GCC's library of atomics.
//! - `record`: Records the inputs of a compiled library, to decide whether it is still up to date.
//! - `stored_flags`: Decides which flags of a stored plan are ordinary: those that say how a target
//!   is compiled and linked.
//! - `user_flags`: Parses the compiler and linker flags of users, and makes their paths absolute.

mod command;
mod compiler;
mod error;
mod facts;
mod libatomic;
mod record;
mod stored_flags;
mod user_flags;

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::cache::{Cache, IoError};
use super::head::{self, Head};
use super::sources::{Sources, Tree};
use command::Commands;
pub use command::WRAPPED;
pub use compiler::{Compiler, Language};
pub use error::{Error, MISSING_DEFINITION, lacks_hooks};
pub use libatomic::needs_libatomic;
use record::Record;
pub use stored_flags::unusual_flag;
pub use user_flags::{with_paths, words as flag_words};

/// The two ways to build a library.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Flavour {
    /// As its users build it: optimised, with debug information, without instrumentation.
    #[default]
    Plain,
    /// Each access calls a hook, for the controlled engine.
    Hooked,
}

/// Everything that decides a library besides the content of files and the compiler's version.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// The adapter: `.c`, `.cc`, `.cpp` or `.cxx`.
    pub source: PathBuf,
    #[serde(default)]
    pub flavour: Flavour,
    /// `-I`
    #[serde(default)]
    pub include_dirs: Vec<PathBuf>,
    /// `-l`
    #[serde(default)]
    pub libraries: Vec<String>,
    /// `--cflag`: flags for the compiler or the linker, passed on as they are, and sources of the
    /// library, which are compiled as the adapter is.
    #[serde(default)]
    pub flags: Vec<String>,
}

impl Request {
    /// The same request with absolute paths; relative ones are taken from `folder`. A plan must
    /// store this form to be replayed in another directory.
    pub fn anchored(&self, folder: &Path) -> Request {
        Request {
            source: folder.join(&self.source),
            flavour: self.flavour,
            include_dirs: self.include_dirs.iter().map(|dir| folder.join(dir)).collect(),
            libraries: self.libraries.clone(),
            flags: command::anchored(&self.flags, folder),
        }
    }

    /// All flags: those in the adapter's head, with paths from its folder, then the user's.
    pub fn all_flags(&self, head: &Head) -> Vec<String> {
        let folder = self.source.parent().unwrap_or(Path::new("/"));
        [command::anchored(&head.flags, folder), self.flags.clone()].concat()
    }
}

/// A library, ready to be loaded.
#[derive(Clone, Debug)]
pub struct Compiled {
    pub library: PathBuf,
    /// Whether it was taken from the cache.
    pub cached: bool,
    /// Path and version line of the compiler.
    pub compiler: String,
    /// The user's files that it was made of, with their hashes: first the adapter.
    pub inputs: Vec<(PathBuf, String)>,
    /// What the compiler and the linker printed, as they printed it.
    pub warnings: String,
}

/// What compiling needs besides the request: the cache, the C headers of interlap, and the
/// compilers of this machine.
#[derive(Debug)]
pub struct Toolchain {
    cache: Cache,
    tree: Tree,
    /// The compiler to use instead of `CC`, `CXX` and the search path.
    program: Option<PathBuf>,
    compilers: [OnceLock<Compiler>; 2],
}

impl Toolchain {
    pub fn new(cache: Cache, sources: Sources) -> Result<Toolchain, IoError> {
        let tree = sources.materialise(&cache)?;
        Ok(Toolchain { cache, tree, program: None, compilers: Default::default() })
    }

    /// Compiles with this program, whatever the environment says.
    pub fn with_compiler(self, program: impl Into<PathBuf>) -> Toolchain {
        Toolchain { program: Some(program.into()), compilers: Default::default(), ..self }
    }

    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    pub fn cache(&self) -> &Cache {
        &self.cache
    }

    /// The compiler for this language. One that is missing is looked for again the next time.
    pub fn compiler(&self, language: Language) -> Result<&Compiler, Error> {
        let slot = &self.compilers[language as usize];
        if let Some(compiler) = slot.get() {
            return Ok(compiler);
        }
        let found = Compiler::find(language, self.program.as_deref(), &self.cache)?;
        Ok(slot.get_or_init(|| found))
    }

    /// The folders in which headers are searched, in order.
    pub fn search_path(&self, request: &Request) -> Result<Vec<PathBuf>, Error> {
        let job = self.prepare(request)?;
        Ok(job.commands.search_path())
    }

    /// Compiles and links, or takes the library from the cache. Relative paths are taken from the
    /// current directory. If several processes or threads need the same library at the same time,
    /// one makes it and the others wait.
    pub fn compile(&self, request: &Request) -> Result<Compiled, Error> {
        let job = self.prepare(request)?;
        let _lock = self.cache.lock(&job.key)?;
        let found = Record::find(&self.cache, &job.key);
        let cached = found.is_some();
        let (library, record) = found.map_or_else(|| job.run(), Ok)?;
        let compiler = job.commands.units[0].compiler.identity();
        let Record { of_user: inputs, warnings, .. } = record;
        Ok(Compiled { library, cached, compiler, inputs, warnings })
    }

    fn prepare(&self, request: &Request) -> Result<Job<'_>, Error> {
        let here = std::env::current_dir().map_err(IoError::at("."))?;
        let request = request.anchored(&here);
        let source = fs::canonicalize(&request.source).map_err(IoError::at(&request.source))?;
        let text = fs::read(&source).map_err(IoError::at(&source))?;
        let request = Request { source, ..request };
        let own = String::from_utf8_lossy(&text);
        let request = Request { flags: request.all_flags(&Head::parse(&own)), ..request };
        require_files(&request, &own)?;
        let compiler = |language| self.compiler(language);
        let commands = Commands::new(&request, compiler, &self.tree.ffi())?;
        let key = commands.key(&text, request.flavour);
        Ok(Job { cache: &self.cache, source: request.source, commands, key })
    }
}

/// Fails if a source, an object or an archive that flags name is not there.
fn require_files(request: &Request, text: &str) -> Result<(), Error> {
    let folder = request.source.parent().unwrap_or(Path::new("/"));
    let Some(path) = user_flags::missing_file(&request.flags) else { return Ok(()) };
    let line = head::line_of_flag(text, |word| folder.join(word) == path);
    let place = match line {
        Some(line) => format!("{}:{line}", request.source.display()),
        None => "--cflag".to_string(),
    };
    Err(Error::MissingFile { path, place })
}

/// One compilation, to be looked up or done.
struct Job<'a> {
    cache: &'a Cache,
    /// The adapter, without links.
    source: PathBuf,
    commands: Commands<'a>,
    key: String,
}

impl Job<'_> {
    fn run(&self) -> Result<(PathBuf, Record), Error> {
        let start = SystemTime::now();
        let folder = self.cache.temporary()?;
        let file = |name: &str| folder.path().join(name);
        let library = file("library.so");
        let (mut objects, mut depfiles) = (Vec::new(), vec![file("library.d")]);
        let mut warnings = String::new();
        for (at, unit) in self.commands.units.iter().enumerate() {
            let (object, depfile) = (file(&format!("{at}.o")), file(&format!("{at}.d")));
            let arguments = unit.compile(&object, &depfile);
            warnings += &self.step(unit.compiler, arguments, || unit.one_line())?;
            objects.push(object);
            depfiles.push(depfile);
        }
        let link = self.commands.link(&objects, &library, &depfiles[0]);
        warnings += &self.step(self.commands.linker(), link, || self.commands.one_line())?;
        let mut record = Record::new(&library, warnings)?;
        for depfile in &depfiles {
            record.add_inputs(depfile, folder.path())?;
        }
        record.add_shadows(&self.commands.search_path());
        let dirs = self.commands.units[0].compiler.include_dirs().iter();
        let others = dirs.map(PathBuf::as_path).chain([self.cache.root()]);
        record.note_inputs_of_user(&others.collect::<Vec<_>>(), &self.source);
        let path = record.library_path(self.cache, &self.key);
        // Synced before it is renamed: a crash of the machine must not leave an empty file under
        // its final name.
        File::open(&library).and_then(|file| file.sync_all()).map_err(IoError::at(&library))?;
        fs::rename(&library, &path).map_err(IoError::at(&path))?;
        // The compiler may have read an input before or after it changed: such a library is used
        // for this call only.
        if !record.changed_since(start) {
            record.publish(self.cache, &self.key)?;
        }
        Ok((path, record))
    }

    /// Runs the compiler. Returns its output. An error has the step `by_hand`.
    fn step(
        &self,
        compiler: &Compiler,
        arguments: Vec<OsString>,
        by_hand: impl Fn() -> String,
    ) -> Result<String, Error> {
        let mut command = compiler.command();
        command.args(arguments).current_dir(self.commands.folder());
        let output = command.output().map_err(IoError::at(compiler.path()))?;
        let mut printed = String::from_utf8_lossy(&output.stderr).into_owned();
        printed += &String::from_utf8_lossy(&output.stdout);
        if output.status.success() {
            return Ok(printed);
        }
        Err(error::diagnose(printed, by_hand(), output.status))
    }
}
