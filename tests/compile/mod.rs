//! Compiles adapters to libraries, with the compiler of the machine that runs the tests. Each test
//! has a cache and sources of its own; the user's are not touched.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use interlap::adapter::cache::Cache;
use interlap::adapter::compile::{Compiled, Error, Flavour, Request, Toolchain};
use interlap::adapter::sources::{HEADERS, Sources};
use tempfile::TempDir;

const CPP: &str = "// A queue of one element.\n\
    #include <interlap.h>\n#include \"near.hpp\"\n\
    extern \"C\" const il_target *interlap_target(void) {\n\
        static il_target target = {}; target.library = NEAR; return &target;\n}\n";

const C: &str = "#include <interlap.h>\n\
    const il_target *interlap_target(void) {\n\
        static const il_target target; return &target;\n}\n";

struct Place {
    folder: TempDir,
    toolchain: Toolchain,
}

impl Place {
    fn new() -> Place {
        let folder = tempfile::tempdir().expect("temp folder");
        let toolchain = Place::toolchain_in(folder.path());
        let place = Place { folder, toolchain };
        place.write("near.hpp", "#include \"deep/far.hpp\"\n");
        place.write("deep/far.hpp", "#define NEAR \"one\"\n");
        place.write("q.cpp", CPP);
        place
    }

    fn toolchain_in(folder: &Path) -> Toolchain {
        let cache = Cache::at(folder.join("the cache")).expect("cache");
        let toolchain = Toolchain::new(cache, Sources::EMBEDDED).expect("toolchain");
        for header in HEADERS {
            settle(&toolchain.tree().ffi().join(header));
        }
        toolchain
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("folder");
        fs::write(&path, text).expect("write");
        settle(&path);
    }

    fn request(&self, name: &str) -> Request {
        Request { source: self.path(name), ..Request::default() }
    }

    fn compile(&self, request: &Request) -> Compiled {
        self.toolchain.compile(request).unwrap_or_else(|error| panic!("{error}"))
    }

    fn error(&self, request: &Request) -> Error {
        self.toolchain.compile(request).expect_err("no library")
    }
}

/// Makes the file an hour old: files written while the compiler runs are not cached.
fn settle(path: &Path) {
    let past = SystemTime::now() - Duration::from_secs(3600);
    File::open(path).and_then(|file| file.set_modified(past)).expect("set the time");
}

fn contains(library: &Path, text: &str) -> bool {
    let content = fs::read(library).expect("the library");
    content.windows(text.len()).any(|window| window == text.as_bytes())
}

fn flagged(request: &Request, flags: &[&str]) -> Request {
    Request { flags: flags.iter().map(|flag| flag.to_string()).collect(), ..request.clone() }
}

#[test]
fn a_second_compilation_comes_from_the_cache() {
    let place = Place::new();
    let first = place.compile(&place.request("q.cpp"));
    assert!(!first.cached);
    assert!(contains(&first.library, "interlap_target"));
    assert!(first.compiler.contains(": "));
    // Another process has only the folder.
    let second = Place::toolchain_in(place.folder.path()).compile(&place.request("q.cpp"));
    let second = second.expect("cached");
    assert!(second.cached);
    assert_eq!(first.library, second.library);
}

#[test]
fn editing_an_indirect_header_compiles_again() {
    let place = Place::new();
    let request = place.request("q.cpp");
    let first = place.compile(&request);
    place.write("deep/far.hpp", "#define NEAR \"two\"\n");
    let second = place.compile(&request);
    assert!(!second.cached);
    assert!(contains(&second.library, "two"));
    assert!(contains(&first.library, "one"), "a library in use is not replaced");
}

#[test]
fn a_new_header_that_hides_another_compiles_again() {
    let place = Place::new();
    place.write("q.cpp", &CPP.replace("\"near.hpp\"", "<far.hpp>"));
    place.write("new/unrelated.hpp", "");
    let include_dirs = vec![place.path("new"), place.path("deep")];
    let request = Request { include_dirs, ..place.request("q.cpp") };
    assert!(!place.compile(&request).cached);
    assert!(place.compile(&request).cached);
    place.write("new/far.hpp", "#define NEAR \"hiding\"\n");
    let hidden = place.compile(&request);
    assert!(!hidden.cached);
    assert!(contains(&hidden.library, "hiding"));
}

#[test]
fn other_flags_make_another_library() {
    let place = Place::new();
    let request = place.request("q.cpp");
    let plain = place.compile(&request);
    let defined = place.compile(&flagged(&request, &["-DX"]));
    assert!(!defined.cached);
    assert_ne!(plain.library, defined.library);
    assert!(place.compile(&request).cached);
    let libraries = Request { libraries: vec!["m".into()], ..request };
    assert!(!place.compile(&libraries).cached);
}

/// Flags of a project's own build that cannot work here.
#[test]
fn flags_that_cannot_work_are_reported() {
    let place = Place::new();
    place.write("a.cpp", "#include <interlap.hpp>\n");
    let request = place.request("a.cpp");
    for (flag, words) in [
        ("-fsanitize=address,undefined", "finds use after free"),
        ("--coverage", "would be fuzzed"),
        ("-std=c++14", "needs C++17"),
        ("-fno-exceptions", "leave out -fno-exceptions"),
    ] {
        let error = place.error(&flagged(&request, &[flag])).to_string();
        assert!(error.contains(words), "{flag}: {error}");
    }
}

#[test]
fn an_archive_that_was_rebuilt_is_linked_again() {
    let place = Place::new();
    let archive = |text: &str| {
        place.write("part.c", &format!("const char *part(void) {{ return \"{text}\"; }}"));
        let script = "cc -fPIC -c part.c && rm -f libpart.a && ar rc libpart.a part.o";
        let mut shell = Command::new("sh");
        let status = shell.args(["-c", script]).current_dir(place.folder.path()).status();
        assert!(status.expect("sh").success());
        settle(&place.path("libpart.a"));
    };
    let call = "target.library = part()";
    let text = CPP.replace("target.library = NEAR", call);
    place.write("q.cpp", &format!("extern \"C\" const char *part(void);\n{text}"));
    let flags = [format!("-L{}", place.folder.path().display())];
    let libraries = vec!["part".into()];
    let request = Request { flags: flags.into(), libraries, ..place.request("q.cpp") };
    archive("first part");
    assert!(contains(&place.compile(&request).library, "first part"));
    assert!(place.compile(&request).cached);
    archive("other part");
    assert!(contains(&place.compile(&request).library, "other part"));
}

#[test]
fn damaged_cache_entries_are_replaced() {
    let place = Place::new();
    let request = place.request("q.cpp");
    let first = place.compile(&request);
    fs::write(&first.library, "half").expect("damage");
    let second = place.compile(&request);
    assert!(!second.cached);
    assert!(contains(&second.library, "interlap_target"));
    for entry in fs::read_dir(place.toolchain.cache().libraries()).expect("lib") {
        let path = entry.expect("entry").path();
        if path.extension().is_some_and(|extension| extension == "json") {
            fs::write(path, "{").expect("damage");
        }
    }
    assert!(!place.compile(&request).cached);
    assert!(place.compile(&request).cached);
}

#[test]
fn a_missing_header_names_its_package() {
    let place = Place::new();
    place.write("q.cpp", "#include <urcu/not_there.h>\n");
    let error = place.error(&place.request("q.cpp"));
    assert!(error.to_string().contains("apt-get install liburcu-dev"), "{error}");
    let Error::MissingHeader { header, package, output } = error else { panic!("{error}") };
    assert_eq!((header.as_str(), package), ("urcu/not_there.h", Some("liburcu-dev")));
    assert!(output.contains("#include <urcu/not_there.h>"), "{output}");
}

#[test]
fn a_missing_library_is_named() {
    let place = Place::new();
    let libraries = vec!["not_there".to_string()];
    let error = place.error(&Request { libraries, ..place.request("q.cpp") });
    let Error::MissingLibrary { library, package, .. } = &error else { panic!("{error}") };
    assert_eq!((library.as_str(), *package), ("not_there", None));
}

#[test]
fn a_syntax_error_is_shown_in_the_compilers_words() {
    let place = Place::new();
    place.write("q.cpp", "int x = nonsense;\n");
    let error = place.error(&place.request("q.cpp"));
    let Error::Failed { output, command, .. } = &error else { panic!("{error}") };
    assert!(output.contains("nonsense"), "{output}");
    assert!(command.contains("q.cpp"), "{command}");
    // The command shows the same error when it is pasted.
    let again = Command::new("sh").args(["-c", command]).output().expect("sh");
    assert!(String::from_utf8_lossy(&again.stderr).contains("nonsense"));
}

#[test]
fn a_symbol_without_its_library_fails_when_linking() {
    let place = Place::new();
    place.write("q.cpp", "extern \"C\" void elsewhere();\nvoid f() { elsewhere(); }\n");
    let error = place.error(&place.request("q.cpp"));
    assert!(matches!(&error, Error::Failed { output, .. } if output.contains("elsewhere")));
}

#[test]
fn without_a_compiler_the_error_says_what_to_install() {
    let place = Place::new();
    let toolchain = Place::toolchain_in(place.folder.path()).with_compiler("/nonexistent/g++");
    let error = toolchain.compile(&place.request("q.cpp")).expect_err("no compiler");
    assert!(matches!(error, Error::NoCompiler { .. }), "{error}");
    assert!(error.to_string().contains("apt-get install g++"), "{error}");
}

#[test]
fn a_missing_source_is_an_error_with_its_path() {
    let place = Place::new();
    let error = place.error(&place.request("none.cpp"));
    assert!(error.to_string().contains("none.cpp"), "{error}");
}

#[test]
fn threads_that_ask_at_once_get_one_library() {
    let place = Place::new();
    let request = place.request("q.cpp");
    let results: Vec<Compiled> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| place.compile(&request))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    assert!(results.iter().all(|result| result.library == results[0].library));
    assert_eq!(results.iter().filter(|result| !result.cached).count(), 1);
}

#[test]
fn paths_may_have_spaces_and_make_characters() {
    let place = Place::new();
    place.write("a $ #b/near.hpp", "#define NEAR \"one\"\n");
    place.write("a $ #b/my q.cpp", CPP);
    let request = place.request("a $ #b/my q.cpp");
    assert!(!place.compile(&request).cached);
    assert!(place.compile(&request).cached);
    place.write("a $ #b/near.hpp", "#define NEAR \"two\"\n");
    assert!(contains(&place.compile(&request).library, "two"));
}

#[test]
fn templates_in_c_of_every_family_compile() {
    let place = Place::new();
    for family in Sources::EMBEDDED.templates("c") {
        let template = Sources::EMBEDDED.template(family, "c").expect("listed");
        place.write(&format!("{family}.c"), template);
        let compiled = place.compile(&place.request(&format!("{family}.c")));
        assert_eq!(compiled.warnings, "", "{family}");
    }
    // A function with other parameters, and a name that is none.
    let template = Sources::EMBEDDED.template("stack", "c").expect("there");
    for (right, wrong, word) in [
        (
            "push(struct stack *stack, int64_t value)",
            "push(struct stack *s, int *v)",
            "incompatible",
        ),
        (".pop = pop", ".popp = pop", "no member named"),
    ] {
        place.write("wrong.c", &template.replace(right, wrong));
        let error = place.error(&place.request("wrong.c")).to_string();
        assert!(error.contains(word), "{error}");
    }
}

#[test]
fn an_adapter_in_c_compiles() {
    let place = Place::new();
    place.write("q.c", C);
    let compiled = place.compile(&place.request("q.c"));
    assert!(contains(&compiled.library, "interlap_target"));
    assert_eq!(compiled.warnings, "");
}

#[test]
fn the_first_comment_of_an_adapter_sets_flags_and_the_request_overrides_them() {
    let place = Place::new();
    place.write("inc/name.hpp", "#define NEAR VALUE\n");
    let head = "// A queue.\n// interlap: -Iinc '-DVALUE=\"from head\"' -std=c++20\n";
    let check = "static_assert(__cplusplus >= 202002L);\n";
    place.write("q.cpp", &format!("{head}{}{check}", CPP.replace("near.hpp", "name.hpp")));
    let request = place.request("q.cpp");
    assert!(contains(&place.compile(&request).library, "from head"));
    let request = flagged(&request, &["-UVALUE", "-DVALUE=\"from request\""]);
    assert!(contains(&place.compile(&request).library, "from request"));
}

#[test]
fn sources_of_the_library_are_compiled_along() {
    let place = Place::new();
    place.write("src/part.h", "#define PART \"first part\"\n");
    // Valid C, and no C++.
    let part =
        "#include \"part.h\"\nconst char *part(void) { int class = 1; return PART + !class; }";
    place.write("src/part.c", part);
    place.write("src/other.cpp", "auto other() { static thread_local int x; return x += NUMBER; }");
    let head = "// A queue.\n// interlap: source ../src/part.c ../src/other.cpp\n\
                // interlap: -std=c++20 -DNUMBER=1\n";
    let declared = "extern \"C\" const char *part(void);\nauto other() -> int;\n";
    let text = CPP.replace("near.hpp", "../near.hpp");
    let text = text.replace("target.library = NEAR", "other(), target.library = part()");
    place.write("adapters/q.cpp", &format!("{head}{declared}{text}"));
    let request = place.request("adapters/q.cpp");
    let first = place.compile(&request);
    assert_eq!(first.warnings, "");
    assert!(contains(&first.library, "first part"));
    assert!(place.compile(&request).cached);
    place.write("src/part.h", "#define PART \"other part\"\n");
    let second = place.compile(&request);
    assert!(!second.cached && contains(&second.library, "other part"));
    let hooked = place.compile(&Request { flavour: Flavour::Hooked, ..request.clone() });
    assert!(contains(&hooked.library, "__tsan_read4"), "the hooks of the controlled engine");
    // On the command line, too.
    place.write("adapters/q.cpp", &format!("{declared}{text}"));
    let path = |name: &str| place.path(name).display().to_string();
    let flags = [path("src/part.c"), path("src/other.cpp"), "-DNUMBER=2".into()];
    let by_flags = place.compile(&Request { flags: flags.into(), ..request.clone() });
    assert!(contains(&by_flags.library, "other part"));
    // What is missing is named, with the line.
    place.write("adapters/q.cpp", &format!("// A queue.\n// interlap: source ../no.cpp\n{text}"));
    let error = place.error(&request).to_string();
    assert!(error.contains("q.cpp:2: no file ") && error.contains("no.cpp;"), "{error}");
    let error = place.error(&flagged(&request, &["gone.a"])).to_string();
    assert!(error.contains("q.cpp:2: "), "{error}");
    place.write("adapters/q.cpp", &text);
    let error = place.error(&flagged(&request, &["gone.a"])).to_string();
    assert!(error.contains("--cflag: no file ") && error.contains("gone.a;"), "{error}");
}

#[test]
fn warnings_are_shown_again_from_the_cache() {
    let place = Place::new();
    place.write("q.cpp", &format!("{CPP}static int unused() {{ return 1; }}\n"));
    let first = place.compile(&place.request("q.cpp"));
    assert!(first.warnings.contains("unused"), "{}", first.warnings);
    let second = place.compile(&place.request("q.cpp"));
    assert!(second.cached);
    assert_eq!(first.warnings, second.warnings);
}

#[test]
fn a_request_is_stored_and_read_back() {
    let request = Request {
        source: "q.cpp".into(),
        flavour: Flavour::Plain,
        include_dirs: vec!["inc".into()],
        libraries: vec!["cds".into()],
        flags: vec!["-DX".into(), "-Lx".into()],
    };
    let text = serde_json::to_string(&request).expect("serialise");
    assert_eq!(serde_json::from_str::<Request>(&text).expect("read"), request);
    let anchored = request.anchored(Path::new("/here"));
    assert_eq!(anchored.source, Path::new("/here/q.cpp"));
    assert_eq!(anchored.flags, ["-DX", "-L", "/here/x"]);
    assert_eq!(anchored.anchored(Path::new("/there")), anchored);
}
