---- MODULE BulkQueue ----
\* A queue whose bulk calls move one element at a time.
EXTENDS Integers, Sequences, SequencesExt
VARIABLES q, put, taken

Threads == 0..9
Init == q = <<>> /\ put = [t \in Threads |-> <<>>] /\ taken = [t \in Threads |-> <<>>]

Next(moved, all) == all[Len(moved) + 1]

Enqueue_Step(thread, all) ==
    /\ IsStrictPrefix(put[thread], all)
    /\ LET value == Next(put[thread], all)
       IN  /\ put' = [put EXCEPT ![thread] = Append(@, value)]
           /\ q' = Append(q, value)
    /\ UNCHANGED taken

Enqueue_Done(thread, all) ==
    /\ put[thread] = all
    /\ put' = [put EXCEPT ![thread] = <<>>]
    /\ UNCHANGED <<q, taken>>

Dequeue_Step(thread, all) ==
    /\ IsStrictPrefix(taken[thread], all)
    /\ q # <<>>
    /\ Head(q) = Next(taken[thread], all)
    /\ taken' = [taken EXCEPT ![thread] = Append(@, Head(q))]
    /\ q' = Tail(q)
    /\ UNCHANGED put

Dequeue_Done(thread, all) ==
    /\ taken[thread] = all
    /\ taken' = [taken EXCEPT ![thread] = <<>>]
    /\ UNCHANGED <<q, put>>

Empty(thread) == q = <<>> /\ UNCHANGED <<q, put, taken>>
====
