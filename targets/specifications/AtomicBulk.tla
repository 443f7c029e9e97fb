---- MODULE AtomicBulk ----
\* A queue of several producers whose bulk calls take effect at one instant each.
\*
\* Promised: no element is lost, doubled or invented, and the elements of one enqueue_bulk leave in
\* their order. Between calls there is no order, because a call does not say which thread made it.
\* "Empty", and fewer elements than asked for, may be answered at any time.
EXTENDS Naturals, Sequences, Bags
CONSTANT Empty
\* A bag of sequences: what is left of each enqueue call. Values may be equal, so calls may be.
VARIABLE parts

Init == parts = EmptyBag

One(part) == IF part = <<>> THEN EmptyBag ELSE SetToBag({part})

Without(left, part) == (left (-) One(part)) (+) One(Tail(part))

\* What may be left when these were taken one after the other, each from the front of a part.
RECURSIVE After(_, _)
After(left, values) ==
    IF values = <<>> THEN {left}
    ELSE UNION {After(Without(left, part), Tail(values)) :
                part \in {p \in BagToSet(left) : Head(p) = Head(values)}}

\* What was taken: nothing, where the answer is "empty".
Taken(answer) == IF answer = Empty THEN <<>> ELSE answer

Enqueue(value) == parts' = parts (+) One(<<value>>)

EnqueueBulk(values) == parts' = parts (+) One(values)

Dequeue(answer) ==
    \/ answer = Empty /\ UNCHANGED parts
    \/ \E part \in BagToSet(parts) : answer = Head(part) /\ parts' = Without(parts, part)

DequeueBulk(most, answer) == \E left \in After(parts, Taken(answer)) : parts' = left
====
