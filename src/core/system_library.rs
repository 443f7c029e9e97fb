//! Tells libraries of the system and of the compiler from those of a target.

/// Beginnings of their names.
const SYSTEM: [&str; 12] = [
    "libc.so",
    "libstdc++",
    "libc++",
    "ld-linux",
    "libm.so",
    "libmvec.so",
    "libgcc_s",
    "libpthread",
    "librt.so",
    "libdl.so",
    "libatomic",
    "linux-vdso",
];

/// Whether a library of this name (or path) is the system's.
pub fn is_system(name: &str) -> bool {
    let file = name.rsplit('/').next().unwrap_or_default();
    SYSTEM.iter().any(|system| file.starts_with(system))
}
