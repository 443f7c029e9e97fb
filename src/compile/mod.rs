//! From an adapter's source to a shared library. Comes in: a [`Request`], which names everything
//! that decides the result; goes out: the path of the library, from the cache where nothing it was
//! made of has changed. The same path for bundled and for users' adapters. Does not know what the
//! library does, nor who loads it.

mod command;
mod compiler;
mod error;
mod flags;
mod record;
mod wide;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::cache::{Cache, IoError};
use crate::head::Head;
use crate::sources::{Sources, Tree};
use command::Commands;
pub use command::WRAPPED;
pub use compiler::{Compiler, Language};
pub use error::Error;
pub use flags::words as flag_words;
use record::Record;
pub use wide::needs_libatomic;

/// What a library is built for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Flavour {
    /// As its users build it: optimised, with debug information, nothing added.
    #[default]
    Plain,
    /// Each access calls a hook, for the controlled engine.
    Hooked,
}

/// All that decides a library besides the content of files and the compiler's version. A plan
/// stores it.
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
    /// `--cflag`: as they stand, for the compiler or the linker, whichever they concern.
    #[serde(default)]
    pub flags: Vec<String>,
}

impl Request {
    /// The same request with paths that no longer depend on the current directory: they are taken
    /// from `folder`. A plan that is replayed elsewhere must store this form.
    pub fn anchored(&self, folder: &Path) -> Request {
        Request {
            source: folder.join(&self.source),
            flavour: self.flavour,
            include_dirs: self.include_dirs.iter().map(|dir| folder.join(dir)).collect(),
            libraries: self.libraries.clone(),
            flags: command::anchored(&self.flags, folder),
        }
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
    /// What the compiler and the linker printed, as they printed it.
    pub warnings: String,
}

/// What compiling needs besides the request: where results are kept, the contract's headers, the
/// compilers of this machine. Compilers are asked about themselves once, when first needed.
#[derive(Debug)]
pub struct Toolchain {
    cache: Cache,
    tree: Tree,
    /// Instead of what `CC`, `CXX` and the search path say.
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
        let found = Compiler::find(language, self.program.as_deref())?;
        Ok(slot.get_or_init(|| found))
    }

    /// The folders in which headers are looked for, in order.
    pub fn search_path(&self, request: &Request) -> Result<Vec<PathBuf>, Error> {
        let job = self.prepare(request)?;
        Ok(job.commands.search_path(job.compiler))
    }

    /// Compiles and links, or takes the library from the cache. Paths are taken from the current
    /// directory. Processes and threads may ask for the same library at the same time: one makes
    /// it, the others wait for it.
    pub fn compile(&self, request: &Request) -> Result<Compiled, Error> {
        let job = self.prepare(request)?;
        let _lock = self.cache.lock(&job.key)?;
        let found = Record::find(&self.cache, &job.key);
        let cached = found.is_some();
        let (library, warnings) = match found {
            Some((library, record)) => (library, record.warnings),
            None => job.run()?,
        };
        Ok(Compiled { library, cached, compiler: job.compiler.identity(), warnings })
    }

    fn prepare(&self, request: &Request) -> Result<Job<'_>, Error> {
        let here = std::env::current_dir().map_err(IoError::at("."))?;
        let request = request.anchored(&here);
        let source = fs::canonicalize(&request.source).map_err(IoError::at(&request.source))?;
        let text = fs::read(&source).map_err(IoError::at(&source))?;
        let compiler = self.compiler(Language::of(&source)?)?;
        let head = Head::parse(&String::from_utf8_lossy(&text));
        let request = Request { source, ..request };
        let commands = Commands::new(&request, &head, compiler, &self.tree.ffi())?;
        let key = commands.key(&text, compiler, request.flavour);
        Ok(Job { cache: &self.cache, compiler, commands, key })
    }
}

/// One compilation, to be looked up or done.
struct Job<'a> {
    cache: &'a Cache,
    compiler: &'a Compiler,
    commands: Commands,
    key: String,
}

impl Job<'_> {
    fn run(&self) -> Result<(PathBuf, String), Error> {
        let start = SystemTime::now();
        let folder = self.cache.temporary()?;
        let file = |name: &str| folder.path().join(name);
        let (object, library) = (file("object.o"), file("library.so"));
        let depfiles = [file("object.d"), file("library.d")];
        let mut warnings = self.step(self.commands.compile(&object, &depfiles[0]))?;
        warnings += &self.step(self.commands.link(&object, &library, &depfiles[1]))?;
        let mut record = Record::new(&library, warnings)?;
        for depfile in &depfiles {
            record.add_inputs(depfile, folder.path())?;
        }
        record.add_shadows(&self.commands.search_path(self.compiler));
        let path = record.library_path(self.cache, &self.key);
        // Durable before it has its name: a crash of the machine must not leave an empty file
        // under a name that promises content.
        File::open(&library).and_then(|file| file.sync_all()).map_err(IoError::at(&library))?;
        fs::rename(&library, &path).map_err(IoError::at(&path))?;
        // What changed while the compiler ran may have been read before or after; such a library
        // serves this call and is not promised to the next.
        if !record.changed_since(start) {
            record.publish(self.cache, &self.key)?;
        }
        Ok((path, record.warnings))
    }

    /// Runs the compiler and gives back what it printed.
    fn step(&self, arguments: Vec<std::ffi::OsString>) -> Result<String, Error> {
        let mut command = self.compiler.command();
        command.args(arguments).current_dir(self.commands.folder());
        let output = command.output().map_err(IoError::at(self.compiler.path()))?;
        let mut printed = String::from_utf8_lossy(&output.stderr).into_owned();
        printed += &String::from_utf8_lossy(&output.stdout);
        if output.status.success() {
            return Ok(printed);
        }
        Err(error::diagnose(printed, self.commands.in_one(self.compiler), output.status))
    }
}
