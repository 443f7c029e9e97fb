//! The libraries loaded into this process: which one has the code at an address, which are the
//! system's, and which of the target's are uninstrumented.

use std::ffi::{CStr, c_int, c_void};
use std::path::Path;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use interlap::core::system_library::is_system;

/// Start and end of the code of the C library, the loader, and the compiler's library. Read by
/// allocator.c: what these allocate for themselves outlives a round.
#[unsafe(no_mangle)]
static il_system_code: [AtomicUsize; 6] = [const { AtomicUsize::new(0) }; 6];

/// Start and end of the adapter's code.
static TARGET_CODE: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];
static TARGET_LAST: AtomicUsize = AtomicUsize::new(0);

/// Uninstrumented libraries, except those of the system.
static UNINSTRUMENTED: OnceLock<Vec<Library>> = OnceLock::new();

/// Whether there are none of these, so that hooks report every access of the target.
pub fn are_all_instrumented() -> bool {
    UNINSTRUMENTED.get().is_none_or(Vec::is_empty)
}

/// The names of these; none if hooks report every access of the target.
pub fn unseen() -> Option<String> {
    let libraries = UNINSTRUMENTED.get().filter(|_| !are_all_instrumented())?;
    let name = |library: &Library| library.path.rsplit('/').next().map(str::to_string);
    Some(libraries.iter().filter_map(name).collect::<Vec<String>>().join(", "))
}

/// The name of the uninstrumented library in whose code the address lies.
pub fn uninstrumented(address: usize) -> Option<&'static str> {
    let mut libraries = UNINSTRUMENTED.get()?.iter();
    let library = libraries.find(|library| (library.start..library.end).contains(&address))?;
    library.path.rsplit('/').next()
}

/// Whether the address lies in the adapter's code.
pub fn is_target_code(address: usize) -> bool {
    (TARGET_CODE[0].load(Relaxed)..TARGET_CODE[1].load(Relaxed)).contains(&address)
}

/// Whether the address lies in this program's own code.
pub fn is_harness_code(address: usize) -> bool {
    unsafe extern "C" {
        static __executable_start: u8;
        static etext: u8;
    }
    // The linker defines them; nothing is read there.
    (&raw const __executable_start as usize..&raw const etext as usize).contains(&address)
}

/// Whether the address lies in the adapter's library.
pub fn is_of_target(address: usize) -> bool {
    (TARGET_CODE[0].load(Relaxed)..target_last()).contains(&address)
}

/// The end of the adapter's library in memory.
pub fn target_last() -> usize {
    TARGET_LAST.load(Relaxed)
}

/// A loaded library.
#[derive(Debug)]
struct Library {
    path: String,
    /// Of its code.
    start: usize,
    end: usize,
    /// End of all its memory.
    last: usize,
    /// Names of the libraries that it is linked with.
    needs: Vec<String>,
    /// Those that it defines and refers to, each before a zero.
    names: &'static [u8],
}

/// Notes where the C library's code lies, before a target is loaded.
pub fn note_system() {
    let mut at = 0;
    for library in loaded() {
        let keeps = ["/libc.so", "/ld-linux", "/libgcc_s.so"];
        let of_system = keeps.iter().any(|part| library.path.contains(part));
        if of_system && at < il_system_code.len() {
            il_system_code[at].store(library.start, Relaxed);
            il_system_code[at + 1].store(library.end, Relaxed);
            at += 2;
        }
    }
}

/// Notes where the code of the target at `path` lies; gives the names of the uninstrumented
/// libraries that it is linked with.
pub fn note_target(path: &Path) -> Vec<String> {
    let all = loaded();
    let Some(target) = all.iter().find(|library| Path::new(&library.path) == path) else {
        return Vec::new();
    };
    TARGET_CODE[0].store(target.start, Relaxed);
    TARGET_CODE[1].store(target.end, Relaxed);
    TARGET_LAST.store(target.last, Relaxed);
    let is_instrumented =
        |name: &str| all.iter().any(|other| other.path.ends_with(name) && other.is_instrumented());
    let needs = target.needs.iter();
    let named = needs.filter(|name| !is_system(name) && !is_instrumented(name)).cloned().collect();
    let others = all.into_iter().filter(|it| !it.path.is_empty() && !is_system(&it.path));
    let _ = UNINSTRUMENTED.set(others.filter(|other| !other.is_instrumented()).collect());
    named
}

/// The code of all libraries that are not the system's.
pub fn code_beside_system() -> Vec<&'static [u8]> {
    let loaded = loaded().into_iter().filter(|library| library.start < library.end);
    let others = loaded.filter(|other| !other.path.is_empty() && !is_system(&other.path));
    let code = others.map(|other| {
        let start = ptr::with_exposed_provenance(other.start);
        // SAFETY: the code of a library, which stays loaded.
        unsafe { std::slice::from_raw_parts(start, other.end - other.start) }
    });
    code.collect()
}

fn loaded() -> Vec<Library> {
    let mut found: Vec<Library> = Vec::new();
    // SAFETY: the callback is of the documented type and gets `found`, which outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(note), (&raw mut found).cast()) };
    found
}

unsafe extern "C" fn note(
    info: *mut libc::dl_phdr_info,
    _size: usize,
    found: *mut c_void,
) -> c_int {
    // SAFETY: the loader's description, valid during the call; `found` as given to
    // dl_iterate_phdr.
    let (info, found) = unsafe { (&*info, &mut *found.cast::<Vec<Library>>()) };
    // SAFETY: a string of the loader; empty for the program itself.
    let path = unsafe { CStr::from_ptr(info.dlpi_name) }.to_string_lossy().into_owned();
    // SAFETY: the loader's table of this length.
    let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) };
    let base = info.dlpi_addr as usize;
    let (needs, names) = (Vec::new(), &[][..]);
    let mut library = Library { path, start: 0, end: 0, last: 0, needs, names };
    for header in headers {
        let at = base + header.p_vaddr as usize;
        if header.p_type == libc::PT_LOAD {
            library.last = library.last.max(at + header.p_memsz as usize);
        }
        if header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_X != 0 {
            (library.start, library.end) = (at, at + header.p_memsz as usize);
        } else if header.p_type == libc::PT_DYNAMIC {
            library.read_dynamic(at);
        }
    }
    found.push(library);
    0
}

impl Library {
    /// Reads the dynamic section at this address: see elf(5).
    fn read_dynamic(&mut self, section: usize) {
        const DT_NEEDED: u64 = 1;
        const DT_STRTAB: u64 = 5;
        const DT_STRSZ: u64 = 10;
        let mut entry: *const [u64; 2] = ptr::with_exposed_provenance(section);
        let (mut needed, mut strings, mut bytes) = (Vec::new(), 0, 0);
        loop {
            // SAFETY: the loaded library's dynamic section, which ends with a tag of 0.
            let [tag, value] = unsafe { entry.read() };
            match tag {
                0 => break,
                DT_NEEDED => needed.push(value as usize),
                DT_STRTAB => strings = value as usize,
                DT_STRSZ => bytes = value as usize,
                _ => {}
            }
            // SAFETY: the last entry was not reached.
            entry = unsafe { entry.add(1) };
        }
        // The kernel's page (vDSO) has an offset here, not an address.
        if strings < 4096 {
            return;
        }
        // SAFETY: the library's table of names; the loader has relocated its address.
        self.names =
            unsafe { std::slice::from_raw_parts(ptr::with_exposed_provenance(strings), bytes) };
        let name = |at: &usize| {
            let name = CStr::from_bytes_until_nul(self.names.get(*at..)?).ok()?;
            Some(name.to_string_lossy().into_owned())
        };
        self.needs = needed.iter().filter_map(name).collect();
    }

    /// Whether it refers to a hook.
    fn is_instrumented(&self) -> bool {
        const HOOK: &[u8] = b"__tsan_";
        let (names, hook) = (self.names.as_ptr().cast(), HOOK.as_ptr().cast());
        // SAFETY: memory of these lengths; the library stays loaded.
        !unsafe { libc::memmem(names, self.names.len(), hook, HOOK.len()) }.is_null()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loaded_libraries_are_read() {
        let all = loaded();
        let own = all.first().expect("this program");
        assert!(own.needs.iter().any(|name| name.starts_with("libc.so")), "{:?}", own.needs);
        let code = loaded as fn() -> Vec<Library> as usize;
        assert!((own.start..own.end).contains(&code));
        let libc = all.iter().find(|library| library.path.contains("/libc.so")).expect("linked");
        assert!(is_system(&libc.path) && !libc.is_instrumented() && libc.start < libc.end);
        assert!(!is_system("libcds.so.2.3.3") && !is_system("/usr/lib/libwiredtiger.so"));
    }
}
