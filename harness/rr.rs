//! Detects whether rr records or replays this process, and ends the process with the main program,
//! which is not its parent under rr.

/// rr's own system call `SYS_rrcall_check_presence` (preload/rrcalls.h, since rr 5.4.0), which
/// gives 0 under rr; no kernel has it. The environment variable that rr sets could come from
/// anyone.
const CHECK_PRESENCE: libc::c_long = 1008;

pub fn is_present() -> bool {
    // rr wants all six arguments zero, each a whole register.
    let zero: libc::c_long = 0;
    // SAFETY: takes plain numbers; a kernel without this system call refuses it.
    unsafe { libc::syscall(CHECK_PRESENCE, zero, zero, zero, zero, zero, zero) == 0 }
}

/// From now on the process ends when the other end of `pipe` is closed: the main program is gone,
/// perhaps during a call that never returns. (Without rr, the kernel ends the process.)
pub fn end_with_reader_of(pipe: libc::c_int) {
    std::thread::spawn(move || {
        let mut poll = libc::pollfd { fd: pipe, events: 0, revents: 0 };
        // SAFETY: one valid pollfd. Waits without a timeout; POLLERR needs no request.
        while unsafe { libc::poll(&mut poll, 1, -1) } < 1 || poll.revents & libc::POLLERR == 0 {}
        // SAFETY: takes plain numbers.
        unsafe { libc::kill(libc::getpid(), libc::SIGKILL) };
    });
}
