---- MODULE ElementBulk ----
\* A queue of several producers whose dequeue_bulk takes each element at an instant of its own.
\*
\* Promised: what AtomicBulk promises, but for the one instant of dequeue_bulk: DequeueBulk_Step
\* takes an element, DequeueBulk_Done the last. Elements of enqueue_bulk go in at one instant: as
\* "empty" may be answered at any time, that allows as much as if they went in one by one.
EXTENDS Naturals, Sequences, Bags, TLC
CONSTANTS Empty, None
\* A bag of sequences: what is left of each enqueue call. Values may be equal, so calls may be.
VARIABLE parts
\* A bag of the dequeue_bulk under way: each is in it once for every element that it has taken.
\* Calls are told apart by what they ask for and answer, so two that agree in both must not overlap.
VARIABLE taken

Init == parts = EmptyBag /\ taken = EmptyBag

One(part) == IF part = <<>> THEN EmptyBag ELSE SetToBag({part})

\* A list of one value is handed to a specification as the value, one of none as None or Empty.
List(given) == IF given = None \/ given = Empty THEN <<>>
               ELSE IF SubSeq(ToString(given), 1, 1) = "<" THEN given ELSE <<given>>

Without(left, part) == (left (-) One(part)) (+) One(Tail(part))

Take(value) == \E part \in BagToSet(parts) : value = Head(part) /\ parts' = Without(parts, part)

Enqueue(value) == parts' = parts (+) One(<<value>>) /\ UNCHANGED taken

EnqueueBulk(values) == parts' = parts (+) One(List(values)) /\ UNCHANGED taken

Dequeue(answer) ==
    \/ answer = Empty /\ UNCHANGED parts /\ UNCHANGED taken
    \/ Take(answer) /\ UNCHANGED taken

DequeueBulk_Step(most, answer) ==
    LET all == List(answer)  at == CopiesIn(<<most, all>>, taken) + 1
    IN  at < Len(all) /\ Take(all[at]) /\ taken' = taken (+) One(<<most, all>>)

DequeueBulk_Done(most, answer) ==
    LET all == List(answer)  at == CopiesIn(<<most, all>>, taken) + 1
    IN  \/ all = <<>> /\ UNCHANGED parts /\ UNCHANGED taken
        \/ /\ at = Len(all) /\ Take(all[at])
           /\ taken' = [other \in DOMAIN taken \ {<<most, all>>} |-> taken[other]]
====
