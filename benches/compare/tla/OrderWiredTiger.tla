---- MODULE OrderWiredTiger ----
\* Looks for an order of recorded calls that explains every answer, as WiredTiger.tla gives them.
\*
\* Calls has a sequence for each thread. A call is <<start, end, method, arguments, answer>>. Behind
\* a thread's last call comes the method "end", which starts and ends after all calls, so that no
\* thread ever runs out of calls.
EXTENDS WiredTiger, Calls
\* The number of each thread's next call.
VARIABLE next

First == Init /\ next = [t \in DOMAIN Calls |-> 1]

\* Those whose next call started before any call ended that is still to come. TLC has sets sorted,
\* so it finds the least element first.
Ready ==
    LET ends == {Calls[t][next[t]][2] : t \in DOMAIN Calls}
        first == CHOOSE end \in ends : \A other \in ends : end <= other
    IN  {t \in DOMAIN Calls : Calls[t][next[t]][1] <= first}

\* A step of a call that takes several, which goes on.
Goes(t, method, with, answer) ==
    CASE method = "search" -> Search_Step(t, with[1], with[2], answer)
      [] method = "insert" -> Insert_Step(t, with[1], with[2], with[3], answer)
      [] method = "update" -> Update_Step(t, with[1], with[2], with[3], answer)
      [] method = "remove" -> Remove_Step(t, with[1], with[2], answer)
      [] method = "truncate" -> Truncate_Step(t, with[1], with[2], with[3], answer)
      [] method = "begin" -> Begin_Step(t, answer)
      [] method = "begin_at" -> BeginAt_Step(t, with[1], answer)
      [] method = "commit" -> Commit_Step(t, answer)
      [] method = "commit_at" -> CommitAt_Step(t, with[1], answer)
      [] method = "prepare" -> Prepare_Step(t, with[1], answer)
      [] method = "commit_prepared" -> CommitPrepared_Step(t, with[1], with[2], answer)
      [] method = "rollback" -> Rollback_Step(t, answer)
      [] OTHER -> FALSE

\* The last step, or the only one. That an order was found is printed here, and not in a definition
\* of its own: TLC would evaluate that when it starts, as one that no variable changes.
Ends(t, method, with, answer) ==
    CASE method = "search" -> Search_Done(t, with[1], with[2], answer)
      [] method = "insert" -> Insert_Done(t, with[1], with[2], with[3], answer)
      [] method = "update" -> Update_Done(t, with[1], with[2], with[3], answer)
      [] method = "remove" -> Remove_Done(t, with[1], with[2], answer)
      [] method = "truncate" -> Truncate_Done(t, with[1], with[2], with[3], answer)
      [] method = "begin" -> Begin_Done(t, answer)
      [] method = "begin_at" -> BeginAt_Done(t, with[1], answer)
      [] method = "begin_read_committed" -> BeginReadCommitted(t, answer)
      [] method = "commit" -> Commit_Done(t, answer)
      [] method = "commit_at" -> CommitAt_Done(t, with[1], answer)
      [] method = "prepare" -> Prepare_Done(t, with[1], answer)
      [] method = "commit_prepared" -> CommitPrepared_Done(t, with[1], with[2], answer)
      [] method = "rollback" -> Rollback_Done(t, answer)
      [] method = "reset" -> Reset(t, answer)
      [] method = "set_stable" -> SetStable(with[1], answer)
      [] method = "set_oldest" -> SetOldest(with[1], answer)
      [] method = "rollback_to_stable" -> RollbackToStable(t, answer)
      [] method = "end" -> PrintT("an order was found") /\ TLCSet("exit", TRUE) /\ FALSE

Next == \E t \in Ready :
    LET call == Calls[t][next[t]]
    IN  \/ Goes(t, call[3], call[4], call[5]) /\ UNCHANGED next
        \/ Ends(t, call[3], call[4], call[5]) /\ next' = [next EXCEPT ![t] = @ + 1]
====
