---- MODULE Set ----
\* Of a void insert or remove nothing is said.
CONSTANTS Done, Failed, None
VARIABLE keys

Init == keys = {}

Answers(is, answer) == answer = IF is THEN None ELSE Failed

Insert(key, answer) ==
    /\ answer = Done \/ Answers(key \notin keys, answer)
    /\ keys' = keys \cup {key}

Remove(key, answer) ==
    /\ answer = Done \/ Answers(key \in keys, answer)
    /\ keys' = keys \ {key}

Contains(key, answer) == Answers(key \in keys, answer) /\ UNCHANGED keys
====
