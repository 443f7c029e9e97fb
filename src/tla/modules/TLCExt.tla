---- MODULE TLCExt ----
\* What is not evaluated natively, and is about values, not about the run of TLC.
AssertEq(a, b) == a = b
TLCNoOp(value) == value
TLCDefer(expression) == TRUE
====
