---- MODULE Order ----
\* Looks for an order of recorded calls that explains every answer, as a set of keys gives them.
\*
\* Calls has a sequence for each thread. A call is <<start, end, what>>, where what is
\* operation + 8 * (key + 16 * (high + 16 * answer)). Behind a thread's last call comes the
\* operation 4, which starts and ends after all calls, so that no thread ever runs out of calls.
EXTENDS RangeSet, Calls, TLC
\* The number of each thread's next call.
VARIABLE next

Threads == DOMAIN Calls
Begin == Init /\ next = [t \in Threads |-> 1]

\* Those whose next call started before any call ended that is still to come. TLC has sets sorted,
\* so it finds the least element first.
Ready ==
    LET ends == {Calls[t][next[t]][2] : t \in Threads}
        first == CHOOSE end \in ends : \A other \in ends : end <= other
    IN  {t \in Threads : Calls[t][next[t]][1] <= first}

Yes(answer) == IF answer = 1 THEN None ELSE Failed

\* That an order was found is printed here, and not in a definition of its own: TLC would evaluate
\* that when it starts, as one that no variable changes.
Effect(what) ==
    LET operation == what % 8
        key == (what \div 8) % 16
        high == (what \div 128) % 16
        answer == what \div 2048
    IN  CASE operation = 0 -> Insert(key, Yes(answer))
          [] operation = 1 -> Remove(key, Yes(answer))
          [] operation = 2 -> Contains(key, Yes(answer))
          [] operation = 3 -> RangeCount(key, high, answer)
          [] OTHER -> PrintT("an order was found") /\ TLCSet("exit", TRUE) /\ FALSE

Next == \E t \in Ready :
    /\ Effect(Calls[t][next[t]][3])
    /\ next' = [next EXCEPT ![t] = @ + 1]
====
