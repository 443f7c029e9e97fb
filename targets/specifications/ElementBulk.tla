---- MODULE ElementBulk ----
\* A queue of several producers whose dequeue_bulk takes each element at an instant of its own.
\*
\* Promised: what AtomicBulk promises, but for the one instant of dequeue_bulk: DequeueBulk_Step
\* takes an element, DequeueBulk_Done the last. Elements of enqueue_bulk go in at one instant: as
\* "empty" may be answered at any time, that allows as much as if they went in one by one.
EXTENDS Naturals, Sequences, Bags
CONSTANT Empty
\* A bag of sequences: what is left of each enqueue call. Values may be equal, so calls may be.
VARIABLE parts
\* How many elements the dequeue_bulk of a thread has taken that is under way.
VARIABLE taken

Init == parts = EmptyBag /\ taken = <<>>

One(part) == IF part = <<>> THEN EmptyBag ELSE SetToBag({part})

Without(left, part) == (left (-) One(part)) (+) One(Tail(part))

Take(value) == \E part \in BagToSet(parts) : value = Head(part) /\ parts' = Without(parts, part)

Enqueue(value) == parts' = parts (+) One(<<value>>) /\ UNCHANGED taken

EnqueueBulk(values) == parts' = parts (+) One(values) /\ UNCHANGED taken

Dequeue(answer) ==
    \/ answer = Empty /\ UNCHANGED parts /\ UNCHANGED taken
    \/ Take(answer) /\ UNCHANGED taken

By(thread) == IF thread \in DOMAIN taken THEN taken[thread] ELSE 0
After(thread, count) == [t \in DOMAIN taken \cup {thread} |-> IF t = thread THEN count ELSE By(t)]

\* What was taken: nothing, where the answer is "empty".
All(answer) == IF answer = Empty THEN <<>> ELSE answer

DequeueBulk_Step(thread, most, answer) ==
    LET all == All(answer)  at == By(thread) + 1
    IN  at < Len(all) /\ Take(all[at]) /\ taken' = After(thread, at)

DequeueBulk_Done(thread, most, answer) ==
    LET all == All(answer)  at == By(thread) + 1
    IN  \/ all = <<>> /\ UNCHANGED <<parts, taken>>
        \/ at = Len(all) /\ Take(all[at]) /\ taken' = After(thread, 0)
====
