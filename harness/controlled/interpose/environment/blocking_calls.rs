//! System calls that wait for a file or a socket. The kernel would stop every virtual thread with
//! the calling one, so each call is first made without waiting, and again after virtual sleeps in
//! which other threads may make it succeed. If it still fails, it waits for another process or for
//! ever, which this engine cannot control. Regular files are always ready. Writes go to the kernel:
//! standard error is a pipe that the main program reads.

use std::ffi::{c_char, c_void};
use std::ptr;

use libc::{
    EINVAL, EWOULDBLOCK, MSG_DONTWAIT, O_NONBLOCK, POLLIN, c_int, c_long, c_uint, epoll_event,
    fd_set, msghdr, nfds_t, off_t, pollfd, sigset_t, size_t, sockaddr, socklen_t, ssize_t,
    timespec, timeval,
};

use super::errno::fails;
use super::lock_points::before;
use super::{random, real, time};
use crate::controlled::accesses;
use crate::controlled::core::access::{Effect, Synchronizes, Whose};
use crate::controlled::core::engine::{self, Wait};

/// Sleeps between attempts of a call without a timeout.
const SLEEPS_MAX: u32 = 24;
/// The first sleep, in nanoseconds; each is twice as long as the one before.
const SLEEP_MIN: u64 = 1000;

/// Repeats an attempt until it gives something else than 0 or the deadline has come.
fn retry(deadline: Option<u64>, what: &str, mut attempt: impl FnMut() -> c_int) -> c_int {
    before(0, Effect::None);
    let mut sleeps = 0;
    loop {
        let answer = attempt();
        let now = engine::now();
        if answer != 0 || deadline.is_some_and(|deadline| deadline <= now) {
            accesses::synchronizes(Synchronizes::AcquiresAll, 0);
            return answer;
        }
        if deadline.is_none() && sleeps == SLEEPS_MAX {
            engine::cannot_control(what);
        }
        let next = now + (SLEEP_MIN << sleeps.min(SLEEPS_MAX));
        time::sleep_until(Some(deadline.map_or(next, |d| d.min(next))), Wait::Other);
        sleeps += 1;
    }
}

/// Waits until a descriptor can be read, unless it is non-blocking.
fn await_readable(descriptor: c_int, what: &str) {
    // Another thread may have written what is read, after stores that the reader must see.
    accesses::settle(Whose::All);
    // SAFETY: takes numbers; a wrong descriptor is refused.
    let flags = unsafe { libc::fcntl(descriptor, libc::F_GETFL) };
    if flags == -1 || flags & O_NONBLOCK != 0 {
        accesses::synchronizes(Synchronizes::AcquiresAll, 0);
        return;
    }
    let mut entry = pollfd { fd: descriptor, events: POLLIN, revents: 0 };
    // SAFETY: one entry, and no waiting.
    retry(None, what, || unsafe { real::poll(&mut entry, 1, 0) });
}

#[unsafe(no_mangle)]
unsafe extern "C" fn read(descriptor: c_int, into: *mut c_void, bytes: size_t) -> ssize_t {
    if engine::controls() {
        await_readable(descriptor, "a blocking read");
        let part = libc::iovec { iov_base: into, iov_len: bytes };
        // SAFETY: the caller's room.
        if let Some(bytes) = unsafe { random::read(descriptor, &[part]) } {
            return bytes;
        }
    }
    // SAFETY: the caller's arguments.
    unsafe { real::read(descriptor, into, bytes) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pread(
    descriptor: c_int,
    into: *mut c_void,
    bytes: size_t,
    at: off_t,
) -> ssize_t {
    if engine::controls() {
        accesses::settle(Whose::All);
        accesses::synchronizes(Synchronizes::AcquiresAll, 0);
    }
    // SAFETY: the caller's arguments.
    unsafe { real::pread(descriptor, into, bytes, at) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pread64(
    descriptor: c_int,
    into: *mut c_void,
    bytes: size_t,
    at: off_t,
) -> ssize_t {
    // SAFETY: the caller's arguments.
    unsafe { pread(descriptor, into, bytes, at) }
}

/// The C library's own reads without asking for `read`.
#[unsafe(no_mangle)]
unsafe extern "C" fn eventfd_read(descriptor: c_int, into: *mut u64) -> c_int {
    // SAFETY: the caller's room for one number.
    let bytes = unsafe { read(descriptor, into.cast(), size_of::<u64>()) };
    if bytes == size_of::<u64>() as ssize_t { 0 } else { -1 }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn readv(descriptor: c_int, into: *const libc::iovec, count: c_int) -> ssize_t {
    if engine::controls() {
        await_readable(descriptor, "a blocking readv");
        // SAFETY: the caller's room.
        let all = unsafe { std::slice::from_raw_parts(into, count.max(0) as usize) };
        // SAFETY: as above.
        if let Some(bytes) = unsafe { random::read(descriptor, all) } {
            return bytes;
        }
    }
    // SAFETY: the caller's arguments.
    unsafe { real::readv(descriptor, into, count) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn recv(
    socket: c_int,
    into: *mut c_void,
    bytes: size_t,
    flags: c_int,
) -> ssize_t {
    if engine::controls() && flags & MSG_DONTWAIT == 0 {
        await_readable(socket, "a blocking recv");
    }
    // SAFETY: the caller's arguments.
    unsafe { real::recv(socket, into, bytes, flags) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn recvfrom(
    socket: c_int,
    into: *mut c_void,
    bytes: size_t,
    flags: c_int,
    from: *mut sockaddr,
    from_bytes: *mut socklen_t,
) -> ssize_t {
    if engine::controls() && flags & MSG_DONTWAIT == 0 {
        await_readable(socket, "a blocking recvfrom");
    }
    // SAFETY: the caller's arguments.
    unsafe { real::recvfrom(socket, into, bytes, flags, from, from_bytes) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn recvmsg(socket: c_int, into: *mut msghdr, flags: c_int) -> ssize_t {
    if engine::controls() && flags & MSG_DONTWAIT == 0 {
        await_readable(socket, "a blocking recvmsg");
    }
    // SAFETY: the caller's arguments.
    unsafe { real::recvmsg(socket, into, flags) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn accept(
    socket: c_int,
    from: *mut sockaddr,
    from_bytes: *mut socklen_t,
) -> c_int {
    if engine::controls() {
        await_readable(socket, "a blocking accept");
    }
    // SAFETY: the caller's arguments.
    unsafe { real::accept(socket, from, from_bytes) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn accept4(
    socket: c_int,
    from: *mut sockaddr,
    from_bytes: *mut socklen_t,
    flags: c_int,
) -> c_int {
    if engine::controls() {
        await_readable(socket, "a blocking accept4");
    }
    // SAFETY: the caller's arguments.
    unsafe { real::accept4(socket, from, from_bytes, flags) }
}

/// The deadline of a timeout in milliseconds; negative: none.
fn after_milliseconds(timeout: c_int) -> Option<u64> {
    u64::try_from(timeout).ok().and_then(|timeout| time::after(timeout * 1_000_000))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn poll(entries: *mut pollfd, count: nfds_t, timeout: c_int) -> c_int {
    outside_control!(poll(entries, count, timeout));
    // SAFETY: the caller's entries, and no waiting.
    let attempt = || unsafe { real::poll(entries, count, 0) };
    retry(after_milliseconds(timeout), "a poll without a timeout", attempt)
}

/// Ignores the mask: signals do not end this wait.
#[unsafe(no_mangle)]
unsafe extern "C" fn ppoll(
    entries: *mut pollfd,
    count: nfds_t,
    timeout: *const timespec,
    mask: *const sigset_t,
) -> c_int {
    outside_control!(ppoll(entries, count, timeout, mask));
    // SAFETY: the caller's time.
    let Ok(deadline) = (unsafe { time::after_timeout(timeout) }) else { return fails(EINVAL) };
    // SAFETY: the caller's entries, and no waiting.
    let attempt = || unsafe { real::poll(entries, count, 0) };
    retry(deadline, "a ppoll without a timeout", attempt)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn epoll_wait(
    epoll: c_int,
    events: *mut epoll_event,
    most: c_int,
    timeout: c_int,
) -> c_int {
    outside_control!(epoll_wait(epoll, events, most, timeout));
    // SAFETY: the caller's room for events, and no waiting.
    let attempt = || unsafe { real::epoll_wait(epoll, events, most, 0) };
    retry(after_milliseconds(timeout), "an epoll_wait without a timeout", attempt)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn epoll_pwait(
    epoll: c_int,
    events: *mut epoll_event,
    most: c_int,
    timeout: c_int,
    mask: *const sigset_t,
) -> c_int {
    outside_control!(epoll_pwait(epoll, events, most, timeout, mask));
    // SAFETY: the caller's room for events, and no waiting.
    let attempt = || unsafe { real::epoll_wait(epoll, events, most, 0) };
    retry(after_milliseconds(timeout), "an epoll_pwait without a timeout", attempt)
}

/// # Safety
/// Each of `sets` is null or points to a set, `timeout` is null or points to a time.
unsafe fn select_for(count: c_int, sets: [*mut fd_set; 3], timeout: *const timespec) -> c_int {
    // SAFETY: the caller's time.
    let deadline = match unsafe { time::after_timeout(timeout) } {
        Ok(deadline) => deadline,
        Err(error) => return fails(error),
    };
    // A select that finds nothing empties its sets.
    // SAFETY: the caller's sets.
    let wanted = sets.map(|set| unsafe { set.as_ref() }.copied());
    let attempt = || {
        for (set, wanted) in sets.iter().zip(wanted) {
            if let Some(wanted) = wanted {
                // SAFETY: not null, or there would be nothing wanted.
                unsafe { **set = wanted };
            }
        }
        let mut at_once = timeval { tv_sec: 0, tv_usec: 0 };
        // SAFETY: the caller's sets, and no waiting.
        unsafe { real::select(count, sets[0], sets[1], sets[2], &mut at_once) }
    };
    retry(deadline, "a select without a timeout", attempt)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn select(
    count: c_int,
    reads: *mut fd_set,
    writes: *mut fd_set,
    exceptions: *mut fd_set,
    timeout: *mut timeval,
) -> c_int {
    outside_control!(select(count, reads, writes, exceptions, timeout));
    // SAFETY: the caller's time.
    let timeout = unsafe { timeout.as_ref() };
    let timeout = timeout.map(|timeout| timespec {
        tv_sec: timeout.tv_sec + timeout.tv_usec / 1_000_000,
        tv_nsec: (timeout.tv_usec % 1_000_000) as c_long * 1000,
    });
    let timeout = timeout.as_ref().map_or(ptr::null(), ptr::from_ref);
    // SAFETY: the caller's sets.
    unsafe { select_for(count, [reads, writes, exceptions], timeout) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pselect(
    count: c_int,
    reads: *mut fd_set,
    writes: *mut fd_set,
    exceptions: *mut fd_set,
    timeout: *const timespec,
    mask: *const sigset_t,
) -> c_int {
    outside_control!(pselect(count, reads, writes, exceptions, timeout, mask));
    // SAFETY: the caller's time and sets.
    unsafe { select_for(count, [reads, writes, exceptions], timeout) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn flock(descriptor: c_int, operation: c_int) -> c_int {
    outside_control!(flock(descriptor, operation));
    let waits = operation & libc::LOCK_NB == 0;
    let mut answer = 0;
    let attempt = || {
        // SAFETY: takes numbers.
        answer = unsafe { real::flock(descriptor, operation | libc::LOCK_NB) };
        let held = std::io::Error::last_os_error().raw_os_error() == Some(EWOULDBLOCK);
        c_int::from(!waits || answer == 0 || !held)
    };
    retry(None, "a blocking flock", attempt);
    answer
}

/// Calls that wait for another process's message, or send a signal after some real time. No seed
/// decides when that comes, so a round that makes one ends.
macro_rules! uncontrollable {
    ($(fn $name:ident($($argument:ident: $type:ty),*) -> $answer:ty;)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($argument: $type),*) -> $answer {
            outside_control!($name($($argument),*));
            engine::cannot_control(stringify!($name))
        }
    )*};
}

/// `alarm(0)` only cancels an alarm, and there never is one.
#[unsafe(no_mangle)]
unsafe extern "C" fn alarm(seconds: c_uint) -> c_uint {
    outside_control!(alarm(seconds));
    if seconds == 0 { 0 } else { engine::cannot_control("alarm") }
}

uncontrollable! {
    fn setitimer(
        which: c_int,
        new: *const libc::itimerval,
        old: *mut libc::itimerval
    ) -> c_int;
    fn timer_create(
        clock: libc::clockid_t,
        event: *mut libc::sigevent,
        timer: *mut libc::timer_t
    ) -> c_int;
    fn mq_receive(
        queue: libc::mqd_t,
        into: *mut c_char,
        bytes: size_t,
        priority: *mut c_uint
    ) -> ssize_t;
    fn mq_timedreceive(
        queue: libc::mqd_t,
        into: *mut c_char,
        bytes: size_t,
        priority: *mut c_uint,
        until: *const timespec
    ) -> ssize_t;
    fn msgrcv(
        queue: c_int,
        into: *mut c_void,
        bytes: size_t,
        kind: c_long,
        flags: c_int
    ) -> ssize_t;
}
