
# The round as the controlled engine runs it: the same at each start, on threads of the operating
# system that run one at a time. The names are those of the harness program (harness/marker.rs).

# The counter of the processor is read by way of SIGSEGV (si_code 128), time is watched by SIGPROF.
handle SIGSEGV SIGPROF nostop noprint pass
# In Rust's, gdb does not find the names below.
set language c++

catch signal SIGSEGV
condition $bpnum $_siginfo.si_code != 128
break *interlap_fault
break *interlap_round_begin
set $il_round_begin = $bpnum
commands
  silent
end
break *interlap_op_begin if $rdx == $il_start
set $il_op_begin = $bpnum
commands
  silent
end
break *interlap_stop
set $il_stop = $bpnum
commands
  silent
end
break *interlap_preempted
set $il_preempted = $bpnum
commands
  silent
end
disable $il_round_begin $il_op_begin $il_preempted
set $il_place = 0

define interlap-start
  set $il_at = 0
  set $il_place = 0
  enable $il_round_begin
  with confirm off -- run
  while $_thread != 0 && $pc != (unsigned long)&interlap_round_begin
    continue
  end
  disable $il_round_begin
end
document interlap-start
Run the round from its beginning: stops before anything of it has happened.
end

define interlap--go
  interlap--select
  interlap--before $il_start
  if $_thread != 0
    enable $il_op_begin
    continue
    disable $il_op_begin
    if $_thread == 0
      printf "The round ended before this operation began. Another build of the target?\n"
    else
      if $pc == (unsigned long)&interlap_op_begin && $rdx == $il_start
        set $il_at = $il_k
        interlap--tell $il_k
        interlap--until $il_start+1
      end
    end
  end
end
document interlap--go
(Part of interlap-op and interlap-next.)
end

# Makes sure that the round is not past this step.
define interlap--before
  if $_thread == 0
    interlap-start
  else
    if **(unsigned long **)&interlap_step >= $arg0
      interlap-start
    end
  end
end
document interlap--before
(Part of other commands.)
end

# Goes on to this step, and to the target's code there.
define interlap--until
  if $_thread != 0
    set *(unsigned long *)&interlap_stop_step = $arg0
    continue
    if $_thread != 0 && $pc == (unsigned long)&interlap_stop
      printf "Step %lu, ", $rdi
      interlap--show
    end
  end
end
document interlap--until
(Part of other commands.)
end

# Selects the innermost frame of the target's code, whose return address is in $rsi.
define interlap--show
  set $il_place = $rsi
  if $il_place == 0
    printf "outside of the target's code:\n"
  else
    printf "from here:\n"
    while $pc != $il_place && $pc + 1 != $il_place
      up-silently
    end
  end
  frame
end
document interlap--show
(Part of other commands.)
end

define interlap-step
  if $argc == 0
    if $_thread == 0
      interlap-start
    end
    if $_thread != 0
      set $il_step = **(unsigned long **)&interlap_step + 1
      interlap--until $il_step
    end
  else
    interlap--before $arg0
    interlap--until $arg0
  end
end
document interlap-step
Go to a step of the schedule: interlap-step N; without N to the next one.
Steps are what starts and ends of operations count in (interlap-ops). The program stops before the
access, lock or the like that the step is about, in the thread that makes it. If the round is past
step N, it is run again.
end

define interlap-finish
  if $_thread == 0 || $il_place == 0
    printf "Go to a step of the target first: interlap-op, interlap-step.\n"
  else
    set $il_thread = $_thread
    tbreak *$il_place if $_thread == $il_thread
    continue
  end
end
document interlap-finish
Take the step: let the access, lock or the like happen that the target is stopped before.
Stops behind it in the target's code, when the thread goes on: others may run before that. gdb's own
step, next and finish are of use there.
end

# Where the engine has stopped the program, gdb's own commands begin behind the step.
define interlap--leave
  if $_thread != 0
    select-frame 0
    if $pc == (unsigned long)&interlap_stop || $pc == (unsigned long)&interlap_preempted
      if $il_place != 0
        interlap-finish
      end
    end
  end
end
document interlap--leave
(Part of step and next.)
end

define hook-step
  interlap--leave
end
document hook-step
(Part of step.)
end

define hook-next
  interlap--leave
end
document hook-next
(Part of next.)
end

define interlap-preemptions
  if $_thread == 0
    interlap-start
  end
  if $_thread != 0
    set *(unsigned long *)&interlap_preemptions = 1
    enable $il_preempted
    continue
    disable $il_preempted
    if $_thread == 0
      printf "There are no more.\n"
    else
      set *(unsigned long *)&interlap_preemptions = 0
      if $pc == (unsigned long)&interlap_preempted
        printf "Step %lu: thread %lu gives way to thread %lu, ", $rdi, $rdx, $rcx
        interlap--show
      end
    end
  end
end
document interlap-preemptions
Go to the next preemption: where a thread that could go on gives way to another.
end

define interlap-fault
  if $_thread == 0
    interlap-start
  end
  continue
  if $_thread != 0
    backtrace 16
  end
end
document interlap-fault
Go on to where the target is at fault: what the engine detects, or a fatal signal.
end
