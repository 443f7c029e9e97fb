---- MODULE RangeSet ----
\* A set of integers that also counts, ranks, selects and lists its keys. Ranges include both ends.
\* None is the answer of an insert, remove or contains for yes, Failed for no, and of a select where
\* there is no such key.
EXTENDS Integers, FiniteSets, SequencesExt
CONSTANTS None, Failed
VARIABLE keys

Init == keys = {}

Answers(is, answer) == answer = IF is THEN None ELSE Failed
Below(key) == {k \in keys : k < key}
Within(low, high) == {k \in keys : low <= k /\ k <= high}

Insert(key, answer) == Answers(key \notin keys, answer) /\ keys' = keys \cup {key}
Remove(key, answer) == Answers(key \in keys, answer) /\ keys' = keys \ {key}
Contains(key, answer) == Answers(key \in keys, answer) /\ UNCHANGED keys

RangeCount(low, high, answer) == answer = Cardinality(Within(low, high)) /\ UNCHANGED keys
Rank(key, answer) == answer = Cardinality(Below(key)) /\ UNCHANGED keys
Size(answer) == answer = Cardinality(keys) /\ UNCHANGED keys

\* The key above n others.
Select(n, answer) ==
    /\ \/ n >= Cardinality(keys) /\ answer = Failed
       \/ n < Cardinality(keys) /\ answer = CHOOSE k \in keys : Cardinality(Below(k)) = n
    /\ UNCHANGED keys

\* The keys from the lowest up.
RangeList(low, high, answer) == answer = SetToSortSeq(Within(low, high), <) /\ UNCHANGED keys
====
