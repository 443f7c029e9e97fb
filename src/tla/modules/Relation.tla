---- MODULE Relation ----
\* A relation is a function from pairs to BOOLEAN, or an operator.
EXTENDS Naturals, FiniteSets

LOCAL AsFunction(Op(_, _), S) == [p \in S \X S |-> Op(p[1], p[2])]

IsReflexive(R, S) == \A x \in S : R[x, x]
IsIrreflexive(R, S) == \A x \in S : ~R[x, x]
IsSymmetric(R, S) == \A x, y \in S : R[x, y] <=> R[y, x]
IsAntiSymmetric(R, S) == \A x, y \in S : R[x, y] /\ R[y, x] => x = y
IsAsymmetric(R, S) == \A x, y \in S : R[x, y] => ~R[y, x]
IsTransitive(R, S) == \A x, y, z \in S : R[x, y] /\ R[y, z] => R[x, z]
IsStrictlyPartiallyOrdered(R, S) ==
  IsIrreflexive(R, S) /\ IsAntiSymmetric(R, S) /\ IsTransitive(R, S)
IsPartiallyOrdered(R, S) == IsReflexive(R, S) /\ IsAntiSymmetric(R, S) /\ IsTransitive(R, S)
IsStrictlyTotallyOrdered(R, S) ==
  IsStrictlyPartiallyOrdered(R, S) /\ \A x, y \in S : x # y => R[x, y] \/ R[y, x]
IsTotallyOrdered(R, S) == IsPartiallyOrdered(R, S) /\ \A x, y \in S : R[x, y] \/ R[y, x]

IsReflexiveUnder(Op(_, _), S) == IsReflexive(AsFunction(Op, S), S)
IsIrreflexiveUnder(Op(_, _), S) == IsIrreflexive(AsFunction(Op, S), S)
IsSymmetricUnder(Op(_, _), S) == IsSymmetric(AsFunction(Op, S), S)
IsAntiSymmetricUnder(Op(_, _), S) == IsAntiSymmetric(AsFunction(Op, S), S)
IsAsymmetricUnder(Op(_, _), S) == IsAsymmetric(AsFunction(Op, S), S)
IsTransitiveUnder(Op(_, _), S) == IsTransitive(AsFunction(Op, S), S)
IsStrictlyPartiallyOrderedUnder(Op(_, _), S) == IsStrictlyPartiallyOrdered(AsFunction(Op, S), S)
IsPartiallyOrderedUnder(Op(_, _), S) == IsPartiallyOrdered(AsFunction(Op, S), S)
IsStrictlyTotallyOrderedUnder(Op(_, _), S) == IsStrictlyTotallyOrdered(AsFunction(Op, S), S)
IsTotallyOrderedUnder(Op(_, _), S) == IsTotallyOrdered(AsFunction(Op, S), S)

\* Each doubles the length of the paths.
TransitiveClosure(R, S) ==
  LET Longer(Q) == [x, y \in S |-> Q[x, y] \/ \E z \in S : Q[x, z] /\ Q[z, y]]
      of[n \in Nat] == IF n = 0 THEN [x, y \in S |-> R[x, y]] ELSE Longer(of[n - 1])
  IN of[CHOOSE n \in 0..Cardinality(S) : 2^n >= Cardinality(S)]
ReflexiveTransitiveClosure(R, S) ==
  LET closure == TransitiveClosure(R, S) IN [x, y \in S |-> x = y \/ closure[x, y]]
IsConnected(R, S) ==
  LET closure == ReflexiveTransitiveClosure(R, S) IN \A x, y \in S : closure[x, y]
====
