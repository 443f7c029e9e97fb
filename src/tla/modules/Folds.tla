---- MODULE Folds ----
MapThenFoldSet(Op(_, _), base, F(_), Choose(_), S) ==
  LET of[T \in SUBSET S] ==
        IF T = {} THEN base ELSE LET x == Choose(T) IN Op(F(x), of[T \ {x}])
  IN of[S]
====
