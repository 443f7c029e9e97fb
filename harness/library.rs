//! Loads a target, a shared library that follows `ffi/interlap.h`. Gives safe handles on it, on a
//! structure and on a thread's local state, each released when dropped. Every call into C stays in
//! this file, in [`crate::timebox`] and in `interpose::gate`.

use std::ffi::{CStr, CString, c_void};
use std::path::Path;
use std::ptr;

use interlap::core::method::{FIRST_CODE, METHODS_MAX, Method, Methods};
use interlap::core::operation::Op;
use interlap::model::Spec;
use interlap::model::listed::{self, Offered};
use interlap::trace::frame::{Problem, ProblemKind, TargetInfo};

#[allow(non_camel_case_types, non_upper_case_globals, dead_code)]
#[allow(clippy::all, clippy::undocumented_unsafe_blocks)]
pub mod abi {
    include!(concat!(env!("OUT_DIR"), "/interlap_h.rs"));
}

// The sizes that users' compilers see; a change must raise IL_ABI_VERSION.
const _: () = assert!(abi::IL_ABI_VERSION == 2);
const _: () = assert!(size_of::<abi::il_call>() == 64);
const _: () = assert!(size_of::<abi::il_config>() == 40);
const _: () = assert!(size_of::<abi::il_operation>() == 16);
const _: () = assert!(size_of::<abi::il_target>() == 104);
const _: () = assert!(abi::IL_METHOD == FIRST_CODE as u32);
const _: () = assert!(abi::IL_METHODS_MAX as usize == METHODS_MAX);

/// Which threads may make a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Any,
    First,
    Others,
}

impl Role {
    pub fn admits(self, thread: u32) -> bool {
        match self {
            Role::Any => true,
            Role::First => thread == 0,
            Role::Others => thread != 0,
        }
    }
}

type CallFunction = unsafe extern "C" fn(*mut c_void, *mut c_void, *mut abi::il_call);

/// The functions of a target.
#[derive(Clone, Copy)]
pub struct Functions {
    pub create: unsafe extern "C" fn(*const abi::il_config) -> *mut c_void,
    pub destroy: unsafe extern "C" fn(*mut c_void),
    pub enter: Option<unsafe extern "C" fn(*mut c_void, u32) -> *mut c_void>,
    pub leave: Option<unsafe extern "C" fn(*mut c_void, *mut c_void)>,
    pub call: CallFunction,
}

/// The loader's message, with a remedy where there is one.
fn explain(error: &dyn std::error::Error) -> Problem {
    let text = error.source().map_or_else(|| error.to_string(), ToString::to_string);
    if let Some((_, symbol)) = text.split_once("undefined symbol: ") {
        let what = symbol.split([',', ' ']).next().unwrap_or(symbol).to_string();
        return Problem { kind: ProblemKind::Undefined, what };
    }
    match lacks_static_storage(&text) {
        true => format!(
            "cannot be loaded: {text}; set GLIBC_TUNABLES=glibc.rtld.optional_static_tls=262144 in \
             the environment, or a larger number"
        ),
        false => format!("cannot be loaded: {text}"),
    }
    .into()
}

/// Whether a library could not be loaded because it needs static thread-local storage, of which a
/// running program has little left.
pub fn lacks_static_storage(problem: &str) -> bool {
    problem.contains("static TLS block")
}

const NO_TARGET: &str = "does not export interlap_target(); end the adapter with \
                         INTERLAP_TARGET(Class), or in C with a macro of interlap_c.h";

/// A loaded target. Never unloaded: threads may have destructors of it yet to run.
pub struct Target {
    functions: Functions,
    pub operations: Vec<(Op, Role)>,
    pub methods: Methods,
    /// The library has a sequential model.
    pub has_model: bool,
    /// It lists methods, whatever the operations are that they are called as.
    pub lists_methods: bool,
    pub info: TargetInfo,
}

impl Target {
    /// Loads a library and checks its description. `model` judges its rounds; none: its own does.
    pub fn load(path: &Path, model: Option<&str>) -> Result<Target, Problem> {
        use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW, Symbol};
        // SAFETY: loading runs the library's constructors, which is what the user asked for; a
        // crash in them is caught like any other crash of the target.
        let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) }
            .map_err(|error| explain(&error))?;
        type Entry = unsafe extern "C" fn() -> *const abi::il_target;
        // SAFETY: the symbol has this type by the contract of interlap.h.
        let entry: Symbol<Entry> =
            unsafe { library.get(b"interlap_target\0") }.map_err(|_| NO_TARGET.to_string())?;
        // SAFETY: interlap_target takes nothing and returns a pointer.
        let description = unsafe { entry() };
        // SAFETY: only the function's address is used, as that of the function of this name.
        let throw = unsafe { library.get::<*mut c_void>(b"__cxa_throw\0") };
        crate::exceptions::note_library(throw.ok().map(Symbol::into_raw));
        std::mem::forget(library);
        // SAFETY: non-null as checked inside; it points to a description that lives as long as
        // the library, which is never unloaded.
        let target = unsafe { Target::check(description, model) }?;
        crate::marker::set_call(target.functions.call as usize);
        Ok(target)
    }

    /// # Safety
    /// `description` is null or points to a description for the rest of the process's life.
    unsafe fn check(
        description: *const abi::il_target,
        model: Option<&str>,
    ) -> Result<Target, String> {
        if description.is_null() {
            return Err("interlap_target() returned NULL".to_string());
        }
        // SAFETY: only the first two fields, which never move, are read before the version check.
        let (version, size) =
            unsafe { ((*description).abi_version, (*description).struct_size as usize) };
        if version != abi::IL_ABI_VERSION || size != size_of::<abi::il_target>() {
            let (ours, bytes) = (abi::IL_ABI_VERSION, size_of::<abi::il_target>());
            return Err(format!(
                "was built for version {version} of interlap.h ({size} bytes), \
                 this is version {ours} ({bytes} bytes); compile it again"
            ));
        }
        // SAFETY: the version and size agree, so the whole structure is there.
        let description = unsafe { &*description };
        let missing = |name: &str| format!("il_target.{name} is NULL");
        let offered = operations(description)?;
        let own = text(description.model, "il_target.model")?;
        let methods = Methods::among(offered.iter().map(|(of, _)| of.op));
        let operations = called(model.unwrap_or(&own), &offered)?;
        Ok(Target {
            functions: Functions {
                create: description.create.ok_or_else(|| missing("create"))?,
                destroy: description.destroy.ok_or_else(|| missing("destroy"))?,
                enter: description.enter,
                leave: description.leave,
                call: description.call.ok_or_else(|| missing("call"))?,
            },
            lists_methods: methods != Methods::default(),
            methods,
            has_model: description.has_model != 0,
            info: info(description, own, &operations)?,
            operations,
        })
    }

    #[inline]
    pub fn call_function(&self) -> CallFunction {
        self.functions.call
    }

    /// The same target, called through other functions.
    pub fn map_functions(self, map: impl FnOnce(Functions) -> Functions) -> Target {
        Target { functions: map(self.functions), ..self }
    }

    /// A new structure, or its sequential model: for a round with this seed, threads and number.
    pub fn create(
        &self,
        directory: &Path,
        (seed, threads, round, of_model): (u64, u32, u32, bool),
    ) -> Result<Structure<'_>, String> {
        let directory = CString::new(directory.as_os_str().as_encoded_bytes())
            .map_err(|_| "the scratch directory's name has a NUL".to_string())?;
        let config = abi::il_config {
            host: host(),
            directory: directory.as_ptr(),
            seed,
            threads,
            round,
            model: of_model.into(),
        };
        // SAFETY: the configuration and its string outlive the call.
        let pointer = unsafe { (self.functions.create)(&config) };
        match pointer.is_null() {
            true => Err("create returned NULL without il_error".to_string()),
            false => Ok(Structure { target: self, pointer }),
        }
    }
}

/// Loads the C++ library for the whole process, if there is one: targets share it.
pub fn load_cxx_library() {
    use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};
    // SAFETY: runs the constructors of the C++ library, which every C++ target runs.
    let library = unsafe { Library::open(Some("libstdc++.so.6"), RTLD_NOW | RTLD_GLOBAL) };
    library.into_iter().for_each(std::mem::forget);
}

/// A string of a description, which may be NULL where an adapter is wrong.
fn text(pointer: *const std::ffi::c_char, name: &str) -> Result<String, String> {
    if pointer.is_null() {
        return Err(format!("{name} is NULL"));
    }
    // SAFETY: by the contract a NUL-terminated string that lives as long as the library.
    let text = unsafe { CStr::from_ptr(pointer) };
    text.to_str().map(str::to_string).map_err(|_| format!("{name} is not UTF-8"))
}

/// The operations that are called where this model judges.
fn called(model: &str, offered: &[(Offered, Role)]) -> Result<Vec<(Op, Role)>, String> {
    let model = model.parse::<Spec>().ok();
    let (all, roles): (Vec<Offered>, Vec<Role>) = offered.iter().cloned().unzip();
    let called = listed::called(model.as_ref(), &all).map_err(|unfit| unfit.to_string())?;
    let role_of = |method| {
        let at = all.iter().position(|of| of.op == Op::Method(method));
        at.map(|at| roles[at]).filter(|role| *role != Role::Any)
    };
    let roles = called.iter().map(|of| {
        let said = of.method.and_then(role_of);
        (all[of.offered].op, said.unwrap_or(roles[of.offered]))
    });
    Ok(roles.collect())
}

fn info(
    description: &abi::il_target,
    model: String,
    operations: &[(Op, Role)],
) -> Result<TargetInfo, String> {
    let text = |pointer, name| text(pointer, &format!("il_target.{name}"));
    model.parse::<Spec>().map_err(|error| format!("il_target.model: {error}"))?;
    Ok(TargetInfo {
        library: text(description.library, "library")?,
        version: text(description.version, "version")?,
        model,
        operations: operations.iter().map(|(op, _)| *op).collect(),
        thread_max: description.thread_max,
        capacity: description.capacity,
        block_size: description.block_size,
    })
}

fn operations(description: &abi::il_target) -> Result<Vec<(Offered, Role)>, String> {
    if description.operation_count == 0 || description.operations.is_null() {
        return Err("il_target.operations is empty".to_string());
    }
    if description.operation_count as usize > Op::ALL.len() + METHODS_MAX {
        return Err(format!("il_target.operation_count is {}", description.operation_count));
    }
    // SAFETY: by the contract an array of that many operations; the count was bounded above.
    let operations = unsafe {
        std::slice::from_raw_parts(description.operations, description.operation_count as usize)
    };
    let mut methods = abi::IL_METHOD..abi::IL_METHOD + abi::IL_METHODS_MAX;
    operations
        .iter()
        .map(|operation| {
            let signature = || text(operation.signature, "il_operation.signature");
            let of = match Op::from_code(operation.op).filter(|op| !op.is_foreign()) {
                Some(op) if operation.signature.is_null() => Offered { op, by: None },
                Some(op) => Offered { op, by: Some(signature()?) },
                None if methods.next() == Some(operation.op) => {
                    Offered { op: Op::Method(Method::new(&signature()?)?), by: None }
                }
                None => return Err(format!("il_operation.op {:#x} is unknown", operation.op)),
            };
            let role = match operation.role {
                abi::IL_ANY_THREAD => Role::Any,
                abi::IL_FIRST_THREAD => Role::First,
                abi::IL_OTHER_THREADS => Role::Others,
                role => return Err(format!("il_operation.role {role} is unknown")),
            };
            Ok((of, role))
        })
        .collect()
}

/// A structure under test; destroyed when dropped.
pub struct Structure<'a> {
    target: &'a Target,
    pointer: *mut c_void,
}

// SAFETY: the adapter's contract demands that threads may call one structure at once; nothing here
// dereferences the pointer.
unsafe impl Sync for Structure<'_> {}

impl Structure<'_> {
    pub fn pointer(&self) -> *mut c_void {
        self.pointer
    }

    /// Prepares the calling thread for its calls.
    pub fn enter(&self, thread: u32) -> Local<'_> {
        let pointer = match self.target.functions.enter {
            // SAFETY: the structure is alive, and `thread` is the caller's own number.
            Some(enter) => unsafe { enter(self.pointer, thread) },
            None => ptr::null_mut(),
        };
        Local { structure: self, pointer }
    }
}

impl Drop for Structure<'_> {
    fn drop(&mut self) {
        // SAFETY: made by create, dropped once; every Local borrows the structure and is gone.
        unsafe { (self.target.functions.destroy)(self.pointer) }
    }
}

/// A thread's own state for a structure; left when dropped, on the thread that entered.
pub struct Local<'a> {
    structure: &'a Structure<'a>,
    pointer: *mut c_void,
}

impl Local<'_> {
    pub fn pointer(&self) -> *mut c_void {
        self.pointer
    }
}

impl Drop for Local<'_> {
    fn drop(&mut self) {
        if let Some(leave) = self.structure.target.functions.leave {
            // SAFETY: `pointer` came from enter on this thread (Local is not Send) and the
            // structure is still alive.
            unsafe { leave(self.structure.pointer, self.pointer) }
        }
    }
}

unsafe extern "C" fn error(message: *const std::ffi::c_char) {
    let text = match message.is_null() {
        true => "il_error(NULL)".to_string(),
        // SAFETY: by the contract a NUL-terminated string that is valid during this call.
        false => unsafe { CStr::from_ptr(message) }.to_string_lossy().into_owned(),
    };
    crate::pipe::abandon(text.into())
}

/// The services an adapter may call.
pub fn host() -> *const abi::il_host {
    static HOST: abi::il_host = abi::il_host {
        box_open: Some(crate::timebox::box_open),
        box_close: Some(crate::timebox::box_close),
        error: Some(error),
    };
    &HOST
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_and_the_vocabulary_have_the_same_numbers() {
        let header = include_str!("../ffi/interlap.h");
        let offered = || Op::ALL.iter().filter(|op| !op.is_foreign());
        for &op in offered() {
            let line = format!(" = {:#04x}", op.code());
            assert!(header.contains(&line), "{op:?} is not in interlap.h");
        }
        let enumerated = header.lines().filter(|l| l.trim().starts_with("IL_") && l.contains("0x"));
        assert_eq!(enumerated.count(), offered().count());
        assert_eq!(abi::IL_SET_SELECT, u32::from(Op::SetSelect.code()));
        assert_eq!(abi::IL_LOG_CHECK_TAIL, u32::from(Op::LogCheckTail.code()));
        assert_eq!(abi::IL_KV_APPEND, u32::from(Op::KvAppend.code()));
        assert_eq!(abi::IL_STORE_ABORT, u32::from(Op::StoreAbort.code()));
        assert_eq!(abi::IL_DEQUE_STEAL, u32::from(Op::DequeSteal.code()));
        assert_eq!(abi::IL_MAP_COMPARE_EXCHANGE, u32::from(Op::MapCompareExchange.code()));
        assert_eq!(
            abi::IL_REGISTER_COMPARE_EXCHANGE,
            u32::from(Op::RegisterCompareExchange.code())
        );
        assert_eq!(abi::IL_PRIORITY_POLL, u32::from(Op::PriorityPoll.code()));
    }
}
