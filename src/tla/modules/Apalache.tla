---- MODULE Apalache ----
\* What is about values. Operators that only guide the solver are what they are given.
EXTENDS Integers, FiniteSetsExt, SequencesExt

x := e == x = e
MkSeq(n, F(_)) == [i \in 1..n |-> F(i)]
Repeat(F(_, _), n, x) == LET of[i \in 0..n] == IF i = 0 THEN x ELSE F(of[i - 1], i) IN of[n]
SetAsFun(S) == [x \in {p[1] : p \in S} |-> (CHOOSE p \in S : p[1] = x)[2]]
FunAsSeq(f, length, most) == [i \in 1..length |-> f[i]]
ApaFoldSet(Op(_, _), base, S) == FoldLeft(Op, base, SetToSeq(S))
ApaFoldSeqLeft(Op(_, _), base, s) == FoldLeft(Op, base, s)
Guess(S) == CHOOSE x \in S : TRUE
Skolem(e) == e
Expand(S) == S
ConstCardinality(e) == e
====
