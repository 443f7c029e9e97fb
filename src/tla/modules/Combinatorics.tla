---- MODULE Combinatorics ----
EXTENDS Naturals

factorial[n \in Nat] == IF n = 0 THEN 1 ELSE n * factorial[n - 1]
choose(n, k) ==
  LET least == IF k > n - k THEN n - k ELSE k
      of[i \in 0..least] == IF i = 0 THEN 1 ELSE (of[i - 1] * (n - i + 1)) \div i
  IN IF k > n THEN 0 ELSE of[least]
====
