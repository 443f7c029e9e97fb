//! Decides which flags of a stored plan are ordinary: those that say how a target is compiled and
//! linked. Others may load code into the compiler, start programs or write files.

use super::user_flags::Flag;
use crate::core::plan::Build;

/// The first flag of the plan that is not ordinary.
pub fn unusual_flag(build: &Build) -> Option<String> {
    let is_unusual = |library: &&String| !is_library(library);
    let library = build.libraries.iter().find(is_unusual).map(|library| format!("-l{library}"));
    let mut flags = Flag::parse(&build.flags).into_iter();
    let words = |flag: Flag| flag.words().join(" ");
    library.or_else(|| flags.find(|flag| !is_ordinary(flag)).map(words))
}

fn is_ordinary(flag: &Flag) -> bool {
    match flag {
        Flag::Path(..) => true,
        Flag::Valued(name, value) => match &name[..] {
            "-D" | "-U" => true,
            "-l" => is_library(value),
            _ => false,
        },
        Flag::Word(word) => is_ordinary_word(word),
        Flag::File(path) => {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let ends = [".c", ".cc", ".cpp", ".cxx", ".o", ".a", ".so"];
            ends.iter().any(|end| name.ends_with(end)) || name.contains(".so.")
        }
    }
}

/// A library's name, or `:` and the name of its file.
fn is_library(name: &str) -> bool {
    let name = name.strip_prefix(':').unwrap_or(name);
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-.+".contains(c))
}

/// The characters of options and numbers, not those of paths and lists.
fn is_plain(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_alphanumeric() || "_-+.=".contains(c))
}

fn is_in(list: &str, word: &str) -> bool {
    list.split(' ').any(|known| known == word)
}

fn is_ordinary_word(word: &str) -> bool {
    if is_in(WHOLE, word) {
        return true;
    }
    let after = |prefix: &str| word.strip_prefix(prefix).filter(|rest| !rest.is_empty());
    if after("-D").or(after("-U")).is_some() {
        return true;
    }
    if let Some(list) = after("-Wl,") {
        return list.split(',').all(|word| is_in(OF_LINKER, word));
    }
    if let Some(library) = after("-l") {
        return is_library(library);
    }
    if let Some(option) = after("-f") {
        return is_ordinary_option(option);
    }
    if let Some(machine) = after("-m") {
        // -mllvm and -mmlir pass the next word on.
        return is_plain(machine) && !machine.starts_with("ll") && !machine.starts_with("ml");
    }
    let rest = ["-W", "-O", "-std=", "-ggdb", "-gdwarf", "-gno-"].iter().find_map(|at| after(at));
    rest.is_some_and(is_plain)
}

/// Whether `-f` and this only change the code, its names and its messages.
fn is_ordinary_option(option: &str) -> bool {
    let option = option.strip_prefix("no-").unwrap_or(option);
    let (name, value) = option.split_once('=').unwrap_or((option, ""));
    is_plain(value) && (is_in(OF_CODE, name) || BEGIN_OF_CODE.iter().any(|b| name.starts_with(b)))
}

const WHOLE: &str = "\
    -O -g -g0 -g1 -g2 -g3 -ansi -pedantic -pedantic-errors -pipe -pthread -rdynamic \
    -static-libgcc -static-libstdc++ -stdlib=libc++ -stdlib=libstdc++ -w -gz";

const OF_LINKER: &str = "\
    --as-needed --no-as-needed --start-group --end-group -( -) --whole-archive --no-whole-archive \
    --push-state --pop-state --gc-sections --no-undefined --export-dynamic -Bstatic -Bdynamic \
    -Bsymbolic -z now relro defs";

const BEGIN_OF_CODE: [&str; 5] = ["builtin-", "inline-", "tree-", "sized-", "stack-protector"];

const OF_CODE: &str = "\
    abi-version aligned-allocation aligned-new associative-math asynchronous-unwind-tables blocks \
    builtin cf-protection char8_t coalesce color-diagnostics common concepts constexpr-depth \
    constexpr-loop-limit constexpr-ops-limit coroutines data-sections delete-null-pointer-checks \
    diagnostics-color elide-constructors exceptions extended-identifiers fast-math \
    finite-math-only freestanding function-sections gnu-unique hosted inline inline-functions \
    keep-inline-functions lto max-errors ms-extensions non-call-exceptions omit-frame-pointer \
    openmp optimize-sibling-calls permissive pic PIC plt rtti semantic-interposition short-enums \
    signed-char strict-aliasing strict-overflow template-depth threadsafe-statics tls-model \
    unroll-loops unsigned-char use-cxa-atexit visibility visibility-inlines-hidden wrapv";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::plan::Plan;

    fn unusual(flags: &[&str]) -> Option<String> {
        unusual_flag(&Build {
            adapter: "q.cpp".to_string(),
            include_dirs: Vec::new(),
            libraries: Vec::new(),
            flags: flags.iter().map(ToString::to_string).collect(),
        })
    }

    const GOOD: &str = "\
        -I/x -isystem/x -iquote/x -L/x -include/x.h -DX -UX -std=c++20 -std=gnu11 -O -O3 -Ofast \
        -g -g3 -ggdb3 -gdwarf-5 -gno-column-info -Wall -Wno-error=foo -Wextra -w -march=native \
        -mcx16 -mno-avx -msse4.2 -pthread -fopenmp -fno-strict-aliasing -fno-exceptions \
        -ftemplate-depth=900 -fvisibility=hidden -fPIC -flto=auto -fno-builtin-memcpy \
        -ftls-model=initial-exec -latomic -l:libx.so.1 a.o /x/liba.a b.c /x/libb.so.6 \
        -Wl,--as-needed -Wl,-z,now -pedantic";

    const BAD: &str = "\
        -fplugin=x.so -fplugin-arg-x-y=z -fpass-plugin=x.so -B/x --prefix=/x -specs=x --specs=x \
        -wrapper @file -fuse-ld=/x -fuse-ld=gold --ld-path=/x -Wl,-plugin,x -Wl,--plugin=x \
        -Wl,-T,x -Wl,-rpath,/x -Wl,-dynamic-linker,/x -Wl,-o,/x -Wl,@x -Wl,--dependency-file=/x \
        -Wl,-Map=/x -Wp,-MD,/x -Wa,-o,/x -Wa,@x -iplugindir=/x -fdump-tree-all=/x -fdump-rtl-all \
        -dumpdir -o/x -o --dump=x -save-temps=/x -MF/x -MD -T/x -no-canonical-prefixes \
        --sysroot=/x -isysroot -fmodule-mapper=|/x -fprofile-use=/x -fprofile-dir=/x \
        -fauto-profile=/x -ftime-trace=/x -fstack-usage -fcallgraph-info -fopt-info-all=/x \
        -fcompare-debug=x -fsave-optimization-record -gsplit-dwarf -gcc-toolchain \
        --gcc-toolchain=/x --gcc-install-dir=/x -x -D -U -l -L -I -mllvm -mlinker-version=/x \
        --config=/x -ivfsoverlay -fcrash-diagnostics-dir=/x -l/x -l../x x.ld /x/y \
        -fsanitize-blacklist=/x -foffload=x -fuse-linker-plugin -fthinlto-index=/x \
        -fvisibility=/x -Wl, -f -m -W - -- -c -E -S -### -fmodules -fmodule-file=/x \
        -fplugin-dir=/x -frandom-seed=/x -Weverything,/x";

    #[test]
    fn what_only_says_how_to_compile_is_ordinary() {
        for flag in GOOD.split(' ').chain(["-DX=a b,-fplugin=x"]) {
            assert_eq!(unusual(&[flag]), None);
        }
        assert_eq!(unusual(&["-D", "X", "-l", "ck", "-I", "/x", "-isystem", "-fplugin=x"]), None);
    }

    #[test]
    fn what_can_run_code_or_write_files_is_not() {
        for flag in BAD.split(' ').chain([""]) {
            assert_eq!(unusual(&["-DX", flag]).as_deref(), Some(flag));
        }
        for [name, value] in [
            ["-Xclang", "-load"],
            ["-Xlinker", "-plugin=x"],
            ["-Xpreprocessor", "-MD"],
            ["-Xassembler", "-o"],
            ["-T", "x.ld"],
            ["-z", "now"],
            ["-x", "c++"],
            ["--param", "x=1"],
            ["-target", "x"],
            ["-l", "/x"],
        ] {
            assert_eq!(unusual(&[name, value]), Some(format!("{name} {value}")));
        }
        let library = Build { libraries: vec!["../x".to_string()], ..Plan::new("q", 1).build };
        assert_eq!(unusual_flag(&library).as_deref(), Some("-l../x"));
    }
}
