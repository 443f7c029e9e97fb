---- MODULE BagsExt ----
EXTENDS Bags, Integers, Folds, SequencesExt

BagAdd(B, x) == B (+) SetToBag({x})
BagRemove(B, x) == B (-) SetToBag({x})
BagRemoveAll(B, x) == [e \in DOMAIN B \ {x} |-> B[e]]
MapThenFoldBag(Op(_, _), base, F(_), Choose(_), B) ==
  LET copies(x) ==
        LET of[n \in 1..B[x]] == Op(IF n = 1 THEN base ELSE of[n - 1], F(x)) IN of[B[x]]
  IN MapThenFoldSet(Op, base, copies, LAMBDA S : CHOOSE x \in S : TRUE, DOMAIN B)
\* Copy by copy, as TLC's own form of it does.
FoldBag(Op(_, _), base, B) ==
  LET With(so_far, x) ==
        LET of[n \in 0..B[x]] == IF n = 0 THEN so_far ELSE Op(of[n - 1], x) IN of[B[x]]
  IN FoldLeft(With, base, SetToSeq(DOMAIN B))
SumBag(B) == FoldBag(LAMBDA x, y : x + y, 0, B)
ProductBag(B) == FoldBag(LAMBDA x, y : x * y, 1, B)
====
