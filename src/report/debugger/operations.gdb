
set print thread-events off
# `step` stays in the target: what stands in for its accesses, locks and the like is not entered.
skip -gfi harness/controlled/*.c
skip -gfi harness/controlled/interpose/*.rs
skip -gfi harness/controlled/interpose/environment/*.rs

# Operations of the finding, in the order in which they begin. What brings the program to one,
# `interlap--go`, depends on how it is run.

define interlap-op
  set $il_k = 0
  if $argc == 1
    set $il_letter = "$arg0"[0]
    if $il_letter >= 'A' && $il_letter <= 'Z'
      set $il_k = $il_letter - 'A' + 1
    else
      if $il_letter >= 'a' && $il_letter <= 'z'
        set $il_k = $il_letter - 'a' + 1
      else
        set $il_k = $arg0
      end
    end
  end
  if $il_k >= 1 && $il_k <= $il_count
    interlap--go
  else
    printf "Say which operation: A to %c, or its number (interlap-ops lists them).\n", 'A' + $il_count - 1
  end
end
document interlap-op
Go to the start of an operation of the finding: interlap-op K.
K is its letter in the picture of the finding, or 1, 2, ...; interlap-ops lists them.
end

define interlap-next
  set $il_k = $il_at + 1
  if $il_k <= $il_count
    interlap--go
  else
    printf "%c was the last operation; interlap-op A goes to the first.\n", 'A' + $il_count - 1
  end
end
document interlap-next
Go to the next operation of the finding, in the order in which they begin.
end

define interlap-ops
  set $il_i = 1
  while $il_i <= $il_count
    interlap--tell $il_i
    set $il_i = $il_i + 1
  end
end
document interlap-ops
List the operations of the finding: letter, thread, call and answer, start and end.
end
