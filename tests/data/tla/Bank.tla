---- MODULE Bank ----
\* Accounts, from which it is taken one by one.
EXTENDS Integers
CONSTANT Accounts
VARIABLES money, taken, refused

vars == <<money, taken, refused>>

Init ==
    /\ money = [a \in Accounts |-> 0]
    /\ taken = [a \in Accounts |-> 0]
    /\ refused = 0

Put(account, n) ==
    /\ money' = [money EXCEPT ![account] = @ + n]
    /\ UNCHANGED <<taken, refused>>

Take_Step(account, n) ==
    /\ money[account] > 0 /\ taken[account] < n
    /\ money' = [money EXCEPT ![account] = @ - 1]
    /\ taken' = [taken EXCEPT ![account] = @ + 1]
    /\ UNCHANGED refused

Take_Done(account, n) ==
    /\ taken[account] = n
    /\ taken' = [taken EXCEPT ![account] = 0]
    /\ UNCHANGED <<money, refused>>

Next ==
    \E account \in Accounts, n \in Nat :
        \/ Put(account, n)
        \/ Take_Step(account, n)
        \/ Take_Done(account, n)
====
