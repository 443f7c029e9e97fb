//! The C library's own functions, each by the name of the interposed function that hides it. All
//! are looked up before `main`, or at the first call of any if that is earlier: later a look-up
//! could wait for the loader while the loader waits for the calling thread.

#![allow(non_snake_case)] // One is of the C++ library.

use std::ffi::{CStr, c_char, c_void};
use std::mem::transmute;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use libc::{
    c_int, c_long, c_uint, clock_t, clockid_t, cpu_set_t, epoll_event, fd_set, iovec, itimerval,
    mode_t, mqd_t, msghdr, nfds_t, off_t, pid_t, pollfd, pthread_attr_t, pthread_barrier_t,
    pthread_cond_t, pthread_key_t, pthread_mutex_t, pthread_rwlock_t, pthread_spinlock_t,
    pthread_t, rusage, sem_t, sigevent, sighandler_t, siginfo_t, sigset_t, sigval, size_t,
    sockaddr, socklen_t, ssize_t, time_t, timer_t, timespec, timeval, timezone, tms,
};

/// Begins an interposed function: outside of control, returns the answer of the real one.
macro_rules! outside_control {
    ($function:ident($($argument:expr),*)) => {
        if !engine::controls() {
            // SAFETY: the caller's arguments, for the function that it meant to call.
            return unsafe { real::$function($($argument),*) };
        }
        $crate::controlled::accesses::settle_at_point();
    };
}

/// Versions of those functions of glibc on x86-64 that have an older version, too: a look-up
/// without a version would find that one.
const CONDITIONS: &CStr = c"GLIBC_2.3.2";
const TIMERS: &CStr = c"GLIBC_2.3.3";

/// A function's address, once it has been looked up.
struct Address {
    name: &'static CStr,
    version: Option<&'static CStr>,
    at: AtomicPtr<c_void>,
}

impl Address {
    const fn new(name: &'static [u8], version: &[&'static CStr]) -> Address {
        let Ok(name) = CStr::from_bytes_with_nul(name) else { panic!() };
        let version = if version.is_empty() { None } else { Some(version[0]) };
        Address { name, version, at: AtomicPtr::new(ptr::null_mut()) }
    }

    /// Null: this C library has no such function.
    fn find(&self) -> *mut c_void {
        let mut found = ptr::null_mut();
        // SAFETY: looks up a name that ends in NUL, after this program in the order of loading.
        unsafe {
            if let Some(version) = self.version {
                found = libc::dlvsym(libc::RTLD_NEXT, self.name.as_ptr(), version.as_ptr());
            }
            if found.is_null() {
                found = libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr());
            }
        }
        self.at.store(found, Ordering::Relaxed);
        found
    }

    #[inline]
    fn get(&self) -> *mut c_void {
        let at = self.at.load(Ordering::Relaxed);
        if at.is_null() { self.get_first() } else { at }
    }

    #[cold]
    fn get_first(&self) -> *mut c_void {
        find_all();
        let mut found = self.at.load(Ordering::Relaxed);
        if found.is_null() {
            found = self.find_in_cxx_library();
        }
        if found.is_null() {
            let text = [b"interlap-harness failed: libc has no ", self.name.to_bytes(), b"\n"];
            for part in text {
                // SAFETY: writes bytes that are there.
                unsafe { libc::write(2, part.as_ptr().cast(), part.len()) };
            }
            // SAFETY: ends the process.
            unsafe { libc::abort() };
        }
        found
    }

    /// The C++ library is loaded with the target, where a look-up does not reach it.
    fn find_in_cxx_library(&self) -> *mut c_void {
        // SAFETY: gives a handle on the library only if it is loaded, and looks up a name in it.
        let found = unsafe {
            let flags = libc::RTLD_NOLOAD | libc::RTLD_LAZY;
            match libc::dlopen(c"libstdc++.so.6".as_ptr(), flags) {
                library if library.is_null() => ptr::null_mut(),
                library => libc::dlsym(library, self.name.as_ptr()),
            }
        };
        self.at.store(found, Ordering::Relaxed);
        found
    }
}

/// Before `main`, by the loader.
#[used]
#[unsafe(link_section = ".init_array")]
static FIND_ALL: extern "C" fn() = find_all;

macro_rules! functions {
    ($(fn $name:ident($($argument:ident: $type:ty),*) $(-> $answer:ty)? $(= $version:expr)?;)*) => {
        $(
            #[inline]
            pub unsafe fn $name($($argument: $type),*) $(-> $answer)? {
                type Function = unsafe extern "C-unwind" fn($($type),*) $(-> $answer)?;
                // SAFETY: the address of the C library's function of this name, which has this
                // type; the caller answers for the arguments.
                unsafe { transmute::<*mut c_void, Function>(at::$name.get())($($argument),*) }
            }
        )*

        #[allow(non_upper_case_globals)]
        mod at {
            use $crate::controlled::interpose::environment::real::{Address, CONDITIONS, TIMERS};

            $(pub static $name: Address =
                Address::new(concat!(stringify!($name), "\0").as_bytes(), &[$($version)?]);)*

            const _: [&std::ffi::CStr; 2] = [CONDITIONS, TIMERS];
        }

        extern "C" fn find_all() {
            $(at::$name.find();)*
        }
    };
}

pub(super) type ForkHandler = Option<unsafe extern "C" fn()>;
pub(super) type AtExit = unsafe extern "C" fn(*mut c_void);
pub(super) type Start = unsafe extern "C-unwind" fn(*mut c_void) -> *mut c_void;
pub(super) type Destructor = unsafe extern "C-unwind" fn(*mut c_void);
pub(super) type Routine = extern "C-unwind" fn();

functions! {
    fn _ZNSt13random_device9_M_getvalEv(device: *mut c_void) -> c_uint;
    fn __cxa_atexit(destructor: AtExit, object: *mut c_void, library: *mut c_void) -> c_int;
    fn __cxa_guard_abort(guard: *mut u64);
    fn __cxa_guard_acquire(guard: *mut u64) -> c_int;
    fn __cxa_guard_release(guard: *mut u64);
    fn __cxa_thread_atexit_impl(
        destructor: Destructor,
        object: *mut c_void,
        library: *mut c_void
    ) -> c_int;
    fn __register_atfork(
        before: ForkHandler,
        parent: ForkHandler,
        child: ForkHandler,
        library: *mut c_void
    ) -> c_int;
    fn accept(socket: c_int, from: *mut sockaddr, from_bytes: *mut socklen_t) -> c_int;
    fn accept4(
        socket: c_int,
        from: *mut sockaddr,
        from_bytes: *mut socklen_t,
        flags: c_int
    ) -> c_int;
    fn alarm(seconds: c_uint) -> c_uint;
    fn arc4random() -> u32;
    fn arc4random_buf(into: *mut c_void, bytes: size_t);
    fn arc4random_uniform(end: u32) -> u32;
    fn call_once(flag: *mut c_int, routine: Routine);
    fn clock() -> clock_t;
    fn clock_gettime(clock: clockid_t, into: *mut timespec) -> c_int;
    fn clock_nanosleep(
        clock: clockid_t,
        flags: c_int,
        time: *const timespec,
        left: *mut timespec
    ) -> c_int;
    fn cnd_broadcast(condition: *mut pthread_cond_t) -> c_int;
    fn cnd_signal(condition: *mut pthread_cond_t) -> c_int;
    fn cnd_timedwait(
        condition: *mut pthread_cond_t,
        mutex: *mut pthread_mutex_t,
        until: *const timespec
    ) -> c_int;
    fn cnd_wait(condition: *mut pthread_cond_t, mutex: *mut pthread_mutex_t) -> c_int;
    fn dlopen(file: *const c_char, flags: c_int) -> *mut c_void;
    fn epoll_pwait(
        epoll: c_int,
        events: *mut epoll_event,
        most: c_int,
        timeout: c_int,
        mask: *const sigset_t
    ) -> c_int;
    fn epoll_wait(epoll: c_int, events: *mut epoll_event, most: c_int, timeout: c_int) -> c_int;
    fn flock(descriptor: c_int, operation: c_int) -> c_int;
    fn fork() -> pid_t;
    fn getentropy(into: *mut c_void, bytes: size_t) -> c_int;
    fn getrandom(into: *mut c_void, bytes: size_t, flags: c_uint) -> ssize_t;
    fn gettid() -> pid_t;
    fn gettimeofday(into: *mut timeval, zone: *mut timezone) -> c_int;
    fn mq_receive(queue: mqd_t, into: *mut c_char, bytes: size_t, priority: *mut c_uint) -> ssize_t;
    fn mq_timedreceive(
        queue: mqd_t,
        into: *mut c_char,
        bytes: size_t,
        priority: *mut c_uint,
        until: *const timespec
    ) -> ssize_t;
    fn msgrcv(id: c_int, into: *mut c_void, bytes: size_t, kind: c_long, flags: c_int) -> ssize_t;
    fn mtx_lock(mutex: *mut pthread_mutex_t) -> c_int;
    fn mtx_timedlock(mutex: *mut pthread_mutex_t, until: *const timespec) -> c_int;
    fn mtx_trylock(mutex: *mut pthread_mutex_t) -> c_int;
    fn mtx_unlock(mutex: *mut pthread_mutex_t) -> c_int;
    fn nanosleep(duration: *const timespec, left: *mut timespec) -> c_int;
    fn pause() -> c_int;
    fn poll(entries: *mut pollfd, count: nfds_t, timeout: c_int) -> c_int;
    fn ppoll(
        entries: *mut pollfd,
        count: nfds_t,
        timeout: *const timespec,
        mask: *const sigset_t
    ) -> c_int;
    fn pselect(
        count: c_int,
        reads: *mut fd_set,
        writes: *mut fd_set,
        exceptions: *mut fd_set,
        timeout: *const timespec,
        mask: *const sigset_t
    ) -> c_int;
    fn pthread_attr_getdetachstate(attributes: *const pthread_attr_t, into: *mut c_int) -> c_int;
    fn pthread_barrier_destroy(barrier: *mut pthread_barrier_t) -> c_int;
    fn pthread_barrier_wait(barrier: *mut pthread_barrier_t) -> c_int;
    fn pthread_cancel(pthread: pthread_t) -> c_int;
    fn pthread_clockjoin_np(
        pthread: pthread_t,
        into: *mut *mut c_void,
        clock: clockid_t,
        until: *const timespec
    ) -> c_int;
    fn pthread_cond_broadcast(condition: *mut pthread_cond_t) -> c_int = CONDITIONS;
    fn pthread_cond_clockwait(
        condition: *mut pthread_cond_t,
        mutex: *mut pthread_mutex_t,
        clock: clockid_t,
        until: *const timespec
    ) -> c_int;
    fn pthread_cond_signal(condition: *mut pthread_cond_t) -> c_int = CONDITIONS;
    fn pthread_cond_timedwait(
        condition: *mut pthread_cond_t,
        mutex: *mut pthread_mutex_t,
        until: *const timespec
    ) -> c_int = CONDITIONS;
    fn pthread_cond_wait(
        condition: *mut pthread_cond_t,
        mutex: *mut pthread_mutex_t
    ) -> c_int = CONDITIONS;
    fn pthread_create(
        into: *mut pthread_t,
        attributes: *const pthread_attr_t,
        function: Start,
        argument: *mut c_void
    ) -> c_int;
    fn pthread_detach(pthread: pthread_t) -> c_int;
    fn pthread_exit(result: *mut c_void) -> !;
    fn pthread_getattr_np(pthread: pthread_t, attributes: *mut pthread_attr_t) -> c_int;
    fn pthread_getspecific(number: pthread_key_t) -> *mut c_void;
    fn pthread_join(pthread: pthread_t, into: *mut *mut c_void) -> c_int;
    fn pthread_key_create(into: *mut pthread_key_t, destructor: Option<Destructor>) -> c_int;
    fn pthread_key_delete(number: pthread_key_t) -> c_int;
    fn pthread_kill(pthread: pthread_t, signal: c_int) -> c_int;
    fn mmap(
        address: *mut c_void,
        bytes: size_t,
        protection: c_int,
        flags: c_int,
        descriptor: c_int,
        offset: off_t
    ) -> *mut c_void;
    fn mprotect(address: *mut c_void, bytes: size_t, protection: c_int) -> c_int;
    fn mremap(
        address: *mut c_void,
        bytes: size_t,
        new_bytes: size_t,
        flags: c_int,
        new_address: *mut c_void
    ) -> *mut c_void;
    fn munmap(address: *mut c_void, bytes: size_t) -> c_int;
    fn get_nprocs() -> c_int;
    fn get_nprocs_conf() -> c_int;
    fn getcpu(own: *mut c_uint, node: *mut c_uint) -> c_int;
    fn getrusage(who: c_int, into: *mut rusage) -> c_int;
    fn pthread_getaffinity_np(thread: pthread_t, bytes: size_t, into: *mut cpu_set_t) -> c_int;
    fn pthread_setaffinity_np(thread: pthread_t, bytes: size_t, set: *const cpu_set_t) -> c_int;
    fn sched_getaffinity(pid: pid_t, bytes: size_t, into: *mut cpu_set_t) -> c_int;
    fn sched_setaffinity(pid: pid_t, bytes: size_t, set: *const cpu_set_t) -> c_int;
    fn sysconf(name: c_int) -> c_long;
    fn times(into: *mut tms) -> clock_t;
    fn kill(process: pid_t, signal: c_int) -> c_int;
    fn sigaction(signal: c_int, new: *const libc::sigaction, old: *mut libc::sigaction) -> c_int;
    fn signal(signal: c_int, handler: sighandler_t) -> sighandler_t;
    fn pthread_mutex_clocklock(
        mutex: *mut pthread_mutex_t,
        clock: clockid_t,
        until: *const timespec
    ) -> c_int;
    fn pthread_mutex_lock(mutex: *mut pthread_mutex_t) -> c_int;
    fn pthread_mutex_timedlock(mutex: *mut pthread_mutex_t, until: *const timespec) -> c_int;
    fn pthread_mutex_trylock(mutex: *mut pthread_mutex_t) -> c_int;
    fn pthread_mutex_unlock(mutex: *mut pthread_mutex_t) -> c_int;
    fn pthread_once(once: *mut c_int, routine: Routine) -> c_int;
    fn pthread_rwlock_clockrdlock(
        lock: *mut pthread_rwlock_t,
        clock: clockid_t,
        until: *const timespec
    ) -> c_int;
    fn pthread_rwlock_clockwrlock(
        lock: *mut pthread_rwlock_t,
        clock: clockid_t,
        until: *const timespec
    ) -> c_int;
    fn pthread_rwlock_rdlock(lock: *mut pthread_rwlock_t) -> c_int;
    fn pthread_rwlock_timedrdlock(lock: *mut pthread_rwlock_t, until: *const timespec) -> c_int;
    fn pthread_rwlock_timedwrlock(lock: *mut pthread_rwlock_t, until: *const timespec) -> c_int;
    fn pthread_rwlock_tryrdlock(lock: *mut pthread_rwlock_t) -> c_int;
    fn pthread_rwlock_trywrlock(lock: *mut pthread_rwlock_t) -> c_int;
    fn pthread_rwlock_unlock(lock: *mut pthread_rwlock_t) -> c_int;
    fn pthread_rwlock_wrlock(lock: *mut pthread_rwlock_t) -> c_int;
    fn pthread_setspecific(number: pthread_key_t, pointer: *const c_void) -> c_int;
    fn pthread_sigmask(how: c_int, new: *const sigset_t, old: *mut sigset_t) -> c_int;
    fn pthread_sigqueue(pthread: pthread_t, signal: c_int, value: sigval) -> c_int;
    fn pthread_spin_lock(lock: *mut pthread_spinlock_t) -> c_int;
    fn pthread_spin_trylock(lock: *mut pthread_spinlock_t) -> c_int;
    fn pthread_spin_unlock(lock: *mut pthread_spinlock_t) -> c_int;
    fn pthread_timedjoin_np(
        pthread: pthread_t,
        into: *mut *mut c_void,
        until: *const timespec
    ) -> c_int;
    fn pthread_tryjoin_np(pthread: pthread_t, into: *mut *mut c_void) -> c_int;
    fn raise(signal: c_int) -> c_int;
    fn rand() -> c_int;
    fn random() -> c_long;
    fn pread(descriptor: c_int, into: *mut c_void, bytes: size_t, at: off_t) -> ssize_t;
    fn read(descriptor: c_int, into: *mut c_void, bytes: size_t) -> ssize_t;
    fn readv(descriptor: c_int, into: *const iovec, count: c_int) -> ssize_t;
    fn recv(socket: c_int, into: *mut c_void, bytes: size_t, flags: c_int) -> ssize_t;
    fn recvfrom(
        socket: c_int,
        into: *mut c_void,
        bytes: size_t,
        flags: c_int,
        from: *mut sockaddr,
        from_bytes: *mut socklen_t
    ) -> ssize_t;
    fn recvmsg(socket: c_int, into: *mut msghdr, flags: c_int) -> ssize_t;
    fn sched_getcpu() -> c_int;
    fn sched_yield() -> c_int;
    fn setlocale(category: c_int, name: *const c_char) -> *mut c_char;
    fn umask(mask: mode_t) -> mode_t;
    fn chdir(path: *const c_char) -> c_int;
    fn fchdir(descriptor: c_int) -> c_int;
    fn select(
        count: c_int,
        reads: *mut fd_set,
        writes: *mut fd_set,
        exceptions: *mut fd_set,
        timeout: *mut timeval
    ) -> c_int;
    fn sem_clockwait(semaphore: *mut sem_t, clock: clockid_t, until: *const timespec) -> c_int;
    fn sem_getvalue(semaphore: *mut sem_t, into: *mut c_int) -> c_int;
    fn sem_post(semaphore: *mut sem_t) -> c_int;
    fn sem_timedwait(semaphore: *mut sem_t, until: *const timespec) -> c_int;
    fn sem_trywait(semaphore: *mut sem_t) -> c_int;
    fn sem_wait(semaphore: *mut sem_t) -> c_int;
    fn setitimer(which: c_int, new: *const itimerval, old: *mut itimerval) -> c_int;
    fn sigpending(into: *mut sigset_t) -> c_int;
    fn sigprocmask(how: c_int, new: *const sigset_t, old: *mut sigset_t) -> c_int;
    fn sigqueue(process: pid_t, signal: c_int, value: sigval) -> c_int;
    fn sigsuspend(mask: *const sigset_t) -> c_int;
    fn sigtimedwait(set: *const sigset_t, info: *mut siginfo_t, timeout: *const timespec) -> c_int;
    fn sigwait(set: *const sigset_t, signal: *mut c_int) -> c_int;
    fn sigwaitinfo(set: *const sigset_t, info: *mut siginfo_t) -> c_int;
    fn sleep(seconds: c_uint) -> c_uint;
    fn srand(seed: c_uint);
    fn srandom(seed: c_uint);
    fn syscall(call: c_long, a: usize, b: usize, c: usize, d: usize, e: usize, f: usize) -> c_long;
    fn tgkill(process: pid_t, thread: pid_t, signal: c_int) -> c_int;
    fn thrd_create(
        into: *mut pthread_t,
        function: unsafe extern "C-unwind" fn(*mut c_void) -> c_int,
        argument: *mut c_void
    ) -> c_int;
    fn thrd_detach(thread: pthread_t) -> c_int;
    fn thrd_exit(result: c_int) -> !;
    fn thrd_join(thread: pthread_t, into: *mut c_int) -> c_int;
    fn thrd_sleep(duration: *const timespec, left: *mut timespec) -> c_int;
    fn thrd_yield();
    fn time(into: *mut time_t) -> time_t;
    fn timer_create(
        clock: clockid_t,
        event: *mut sigevent,
        timer: *mut timer_t
    ) -> c_int = TIMERS;
    fn timespec_get(into: *mut timespec, base: c_int) -> c_int;
    fn usleep(microseconds: c_uint) -> c_int;
}
