---- MODULE SequencesExt ----
\* What is not evaluated natively. Of strings, too, where TLC has that.
EXTENDS Integers, Sequences, FiniteSets, FiniteSetsExt, Folds, Functions, Bags, TLC

ToBag(s) == [x \in ToSet(s) |-> Cardinality({i \in DOMAIN s : s[i] = x})]
SetToSeqs(S) == {f \in [1..Cardinality(S) -> S] : IsInjective(f)}
SetToAllKPermutations(S) == UNION {SetToSeqs(T) : T \in SUBSET S}
IsSorted(s, Before(_, _)) == \A j \in DOMAIN s : \A i \in 1..(j - 1) : Before(s[i], s[j])

ReplaceAll(s, old, new) == [i \in DOMAIN s |-> IF s[i] = old THEN new ELSE s[i]]
RemoveFirstMatch(s, Test(_)) ==
  LET at == SelectInSeq(s, Test) IN IF at = 0 THEN s ELSE RemoveAt(s, at)
RemoveFirst(s, e) == RemoveFirstMatch(s, LAMBDA x : x = e)
Snoc(e, s) == Append(s, e)

\* Places in the whole sequence, as TLC's own form of these has them.
SelectInSubSeq(s, from, to, Test(_)) ==
  LET found == {i \in from..to : Test(s[i])} IN IF found = {} THEN 0 ELSE Min(found)
SelectLastInSubSeq(s, from, to, Test(_)) ==
  LET found == {i \in from..to : Test(s[i])} IN IF found = {} THEN 0 ELSE Max(found)
SelectLastInSeq(s, Test(_)) == SelectLastInSubSeq(s, 1, Len(s), Test)

IsStrictSuffix(s, t) == IsSuffix(s, t) /\ s # t
Prefixes(s) == {SubSeq(s, 1, n) : n \in 0..Len(s)}
Suffixes(s) == {SubSeq(s, n, Len(s)) : n \in 1..(Len(s) + 1)}
CommonPrefixes(S) == {p \in UNION {Prefixes(s) : s \in S} : \A s \in S : IsPrefix(p, s)}
LongestCommonPrefix(S) ==
  LET all == CommonPrefixes(S) IN CHOOSE p \in all : \A q \in all : Len(q) <= Len(p)

SeqMod(a, b) == IF a % b = 0 THEN b ELSE a % b
FoldLeftDomain(Op(_, _), base, s) == FoldLeft(Op, base, [i \in DOMAIN s |-> i])
FoldRightDomain(Op(_, _), s, base) == FoldRight(Op, [i \in DOMAIN s |-> i], base)

Zip(s, t) == [i \in 1..Min({Len(s), Len(t)}) |-> <<s[i], t[i]>>]
Interleave(s, t) ==
  CASE Len(s) = 0 /\ Len(t) = 0 -> << <<>>, <<>> >>
    [] Len(s) > 0 /\ Len(s) = Len(t) ->
         [i \in 1..(2 * Len(s)) |-> <<IF i % 2 = 1 THEN s[(i + 1) \div 2] ELSE t[i \div 2]>>]

SubSeqs(s) == {SubSeq(s, i + 1, j) : i, j \in 0..Len(s)}
AllSubSeqs(s) ==
  {LET kept == SetToSortSeq(D, <) IN [i \in DOMAIN kept |-> s[kept[i]]] : D \in SUBSET DOMAIN s}
IndexFirstSubSeq(s, t) ==
  Min({i \in 1..(Len(t) - Len(s) + 1) : SubSeq(t, i, i + Len(s) - 1) = s})
ReplaceSubSeqAt(i, r, s, t) == SubSeq(t, 1, i - 1) \o r \o SubSeq(t, i + Len(s), Len(t))
ReplaceFirstSubSeq(r, s, t) ==
  IF s \in SubSeqs(t) THEN ReplaceSubSeqAt(IndexFirstSubSeq(s, t), r, s, t) ELSE t
ReplaceAllSubSeqs(r, s, t) ==
  LET from[i \in 1..(Len(t) + 1)] ==
        CASE i + Len(s) > Len(t) + 1 -> SubSeq(t, i, Len(t))
          [] SubSeq(t, i, i + Len(s) - 1) = s -> r \o from[i + Len(s)]
          [] OTHER -> SubSeq(t, i, i) \o from[i + 1]
  IN CASE s = t -> r
       [] r = s -> t
       [] Len(s) = 0 ->
            IF Len(t) = 0 THEN t ELSE FlattenSeq([i \in 1..Len(t) |-> r \o SubSeq(t, i, i)])
       [] OTHER -> from[1]
====
