//! Detects whether a compiled target needs libatomic, GCC's library of atomics.
//! Atomics of 16 bytes and more are calls of it, unless a flag promises that every processor has
//! them.

use std::path::Path;

use object::{Object, ObjectSymbol};

/// Prefixes of these calls, without and with the hooks of the controlled engine.
const PREFIXES: [&str; 2] = ["__atomic_", "__tsan_atomic128_"];

/// Whether a program of the same source must be linked with `-latomic`. False if the file cannot
/// be read.
pub fn needs_libatomic(library: &Path) -> bool {
    let Ok(bytes) = std::fs::read(library) else { return false };
    let Ok(file) = object::File::parse(&*bytes) else { return false };
    let is_atomic = |name: &str| PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    let mut missing = file.dynamic_symbols().filter(|symbol| symbol.is_undefined());
    missing.any(|symbol| symbol.name().is_ok_and(is_atomic))
}
