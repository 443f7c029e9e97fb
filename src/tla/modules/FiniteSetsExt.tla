---- MODULE FiniteSetsExt ----
\* What is not evaluated natively.
EXTENDS Integers, FiniteSets, Folds, Functions

ProductSet(S) == FoldSet(LAMBDA x, y : x * y, 1, S)
ReduceSet(Op(_, _), S, base) == FoldSet(Op, base, S)
FlattenSet(S) == UNION S
SymDiff(A, B) == (A \cup B) \ (A \cap B)
Choices(Sets) == {Range(f) : f \in {g \in [Sets -> UNION Sets] : \A S \in Sets : g[S] \in S}}
ChooseUnique(S, P(_)) == CHOOSE x \in S : \A y \in S : P(y) <=> x = y
====
