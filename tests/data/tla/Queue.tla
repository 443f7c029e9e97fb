---- MODULE Queue ----
EXTENDS Sequences
CONSTANT Empty
VARIABLE q

Init == q = <<>>

Enqueue(value) == q' = Append(q, value)

Dequeue(result) ==
  \/ /\ q = <<>>
     /\ result = Empty
     /\ UNCHANGED q
  \/ /\ q # <<>>
     /\ result = Head(q)
     /\ q' = Tail(q)

Next == \E v \in 1..3 : Enqueue(v) \/ \E r \in 1..3 : Dequeue(r)
Spec == Init /\ [][Next]_q
====
