---- MODULE SequencesExt ----
\* What RangeSet needs of the module of this name, which TLC 2.15 does not have.
EXTENDS Integers, FiniteSets

SetToSortSeq(set, Less(_, _)) ==
    [n \in 1..Cardinality(set) |->
        CHOOSE e \in set : Cardinality({f \in set : Less(f, e)}) = n - 1]
====
