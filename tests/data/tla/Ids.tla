---- MODULE Ids ----
\* A pool of ids: which free one is given is left open.
EXTENDS Integers, FiniteSets
CONSTANTS None, Size
VARIABLE used

All == 0..Size - 1
Init == used = {}

Acquire(id) ==
    \/ /\ id = None
       /\ used = All
       /\ UNCHANGED used
    \/ /\ id \in All \ used
       /\ used' = used \cup {id}

Release(id, was) ==
    /\ was = (id \in used)
    /\ used' = used \ {id}
====
