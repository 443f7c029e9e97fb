---- MODULE MCBankValidate ----
\* What a user of OmniLink writes to check its logs against Bank.
EXTENDS BankValidate, TLC, TLCExt

AccountsImpl == TLCCache(UNION UNION { {
    LET record == __traces[t][i]
    IN  IF "account" \in DOMAIN record.operation THEN {record.operation.account} ELSE {}
    : i \in DOMAIN __traces[t] } : t \in DOMAIN __traces }, {})

\* A call that was given up changes nothing but the count of such calls.
AbortBehaviorImpl ==
    /\ __action'.operation_name = "Take"
    /\ __action'.operation._meta.code = 7
    /\ refused' = refused + 1
    /\ UNCHANGED <<money, taken>>

Action_PutImpl == __action'.operation._meta.code = 0

NothingIsLeft == __TraceOps!AtEndOfTrace => \A a \in Accounts : money[a] = 0

DebugAlias == __TraceOps!DebugAlias
PostCondition == __TraceOps!PostCondition
====
