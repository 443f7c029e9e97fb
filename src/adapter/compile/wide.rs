//! Whether a compiled target needs GCC's library of atomics: the target's file comes in, an answer
//! goes out. Of 16 bytes and more, atomics are calls of it unless the compiler is told that every
//! processor has them.

use std::path::Path;

use object::{Object, ObjectSymbol};

/// What such calls are named; and what they are to the engine that hooks them.
const PREFIXES: [&str; 2] = ["__atomic_", "__tsan_atomic128_"];

/// Whether a program of the same source has to be linked with `-latomic`. False of a file that
/// cannot be read.
pub fn needs_libatomic(library: &Path) -> bool {
    let Ok(bytes) = std::fs::read(library) else { return false };
    let Ok(file) = object::File::parse(&*bytes) else { return false };
    let is_one = |name: &str| PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    let mut missing = file.dynamic_symbols().filter(|symbol| symbol.is_undefined());
    missing.any(|symbol| symbol.name().is_ok_and(is_one))
}
