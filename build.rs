//! Generates the two things that the sources cannot hold themselves: the Rust view of
//! `ffi/interlap.h` for the harness, and the table of bundled sources (headers, adapters,
//! templates) that lets the installed program compile adapters without this checkout.
//!
//! The library alone needs neither.

fn main() {
    #[cfg(feature = "fuzzer")]
    programs::generate();
}

#[cfg(feature = "fuzzer")]
mod programs {
    use std::fmt::Write;
    use std::path::{Path, PathBuf};
    use std::{env, fs};

    pub fn generate() {
        let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
        println!("cargo::rerun-if-changed=ffi/interlap.h");
        println!(
            "cargo::rustc-env=INTERLAP_BUILD_TARGET={}",
            env::var("TARGET").expect("by cargo")
        );
        bindgen::Builder::default()
            .header("ffi/interlap.h")
            .allowlist_item("(il|IL)_.*")
            .prepend_enum_name(false)
            .layout_tests(true)
            .generate()
            .expect("bindgen reads ffi/interlap.h; it needs libclang (Debian: libclang-dev)")
            .write_to_file(out.join("interlap_h.rs"))
            .expect("OUT_DIR is writable");
        compile_hooks(&out);
        fs::write(out.join("embedded.rs"), embedded()).expect("OUT_DIR is writable");
    }

    /// The harness's C parts, and its symbols made visible to the targets it loads: nothing in the
    /// program itself calls them, so the linker must be told to keep them.
    fn compile_hooks(out: &Path) {
        let folder = Path::new("harness/controlled/interpose");
        let sources = ["hooks.c", "containers.c", "allocator.c", "annotations.c"]
            .map(|name| folder.join(name));
        // Not the whole folder: this runs, and the library is compiled anew, when one has changed.
        for file in sources.iter().chain([&folder.join("hooks.h")]) {
            println!("cargo::rerun-if-changed={}", file.display());
        }
        cc::Build::new()
            .files(sources)
            .flags(["-std=gnu11", "-mcx16", "-fno-builtin", "-fno-strict-aliasing"])
            .opt_level(2)
            .force_frame_pointer(false)
            .cargo_metadata(false)
            .compile("interlap_hooks");
        let archive = out.join("libinterlap_hooks.a");
        let keep = format!("-Wl,--whole-archive,{},--no-whole-archive", archive.display());
        for argument in ["-rdynamic", &keep] {
            println!("cargo::rustc-link-arg-bin=interlap-harness={argument}");
        }
    }

    /// `&[("ffi/interlap.h", include_str!(...)), ...]` of every file a target is compiled from.
    fn embedded() -> String {
        let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
        let mut table = String::from("&[\n");
        for folder in ["ffi", "ffi/templates", "targets", "targets/broken"] {
            println!("cargo::rerun-if-changed={folder}");
            for path in sources(&root.join(folder)) {
                let name = path.strip_prefix(&root).expect("below the root").display().to_string();
                writeln!(table, "    ({name:?}, include_str!({:?})),", path.display().to_string())
                    .expect("writing to a string");
            }
        }
        table + "]\n"
    }

    fn sources(folder: &Path) -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
        let mut paths: Vec<_> =
            entries.map(|entry| entry.expect("a folder entry").path()).collect();
        paths.retain(|p| {
            p.extension().is_some_and(|e| ["h", "hpp", "c", "cpp"].iter().any(|x| e == *x))
        });
        paths.sort();
        paths
    }
}
