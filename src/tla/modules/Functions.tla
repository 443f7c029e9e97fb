---- MODULE Functions ----
\* What is not evaluated natively.
EXTENDS Integers, Folds

RestrictDomain(f, Test(_)) == Restrict(f, {x \in DOMAIN f : Test(x)})
RestrictValues(f, Test(_)) == Restrict(f, {x \in DOMAIN f : Test(f[x])})
IsRestriction(narrow, wide) ==
  DOMAIN narrow \subseteq DOMAIN wide /\ \A x \in DOMAIN narrow : narrow[x] = wide[x]
Pointwise(f, g, Op(_, _)) == [x \in DOMAIN f |-> Op(f[x], g[x])]
Inverse(f, S, T) == [t \in T |-> CHOOSE s \in S : t \in Range(f) => f[s] = t]

Injection(S, T) == {f \in [S -> T] : IsInjective(f)}
Surjection(S, T) == {f \in [S -> T] : T \subseteq Range(f)}
Bijection(S, T) == {f \in Injection(S, T) : T \subseteq Range(f)}
ExistsInjection(S, T) == Injection(S, T) # {}
ExistsSurjection(S, T) == Surjection(S, T) # {}
ExistsBijection(S, T) == Bijection(S, T) # {}

SumFunctionOnSet(f, S) == FoldFunctionOnSet(+, 0, f, S)
SumFunction(f) == SumFunctionOnSet(f, DOMAIN f)
====
