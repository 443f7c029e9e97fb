---- MODULE DyadicRationals ----
\* Fractions whose denominator is a power of two.
EXTENDS Integers, Sequences, FiniteSetsExt, TLC

LOCAL Reduced(p) ==
  LET common == Max({d \in 1..p.den : p.num % d = 0 /\ p.den % d = 0})
  IN [num |-> p.num \div common, den |-> p.den \div common]
Zero == [num |-> 0, den |-> 1]
One == [num |-> 1, den |-> 1]
IsDyadicRational(p) == \E i \in 0..p.den : 2^i = p.den
Add(p, q) == Reduced([num |-> p.num * q.den + q.num * p.den, den |-> p.den * q.den])
Half(p) == Reduced([num |-> p.num, den |-> 2 * p.den])
PrettyPrint(p) ==
  IF p.den = 1 THEN ToString(p.num) ELSE ToString(p.num) \o "/" \o ToString(p.den)
====
