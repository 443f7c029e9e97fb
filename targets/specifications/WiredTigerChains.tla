---- MODULE WiredTigerChains ----
\* What WiredTiger.tla knows of sessions and of the updates of each key, and how these are read.
\*
\* A cell is a key of a table. It has a chain of updates, the last modification first, whatever the
\* order of the commits. What nobody can see any more is left out, so that histories that lead to
\* the same answers lead to the same state.
EXTENDS Integers, Sequences, FiniteSets, TLC

CONSTANT Walks  \* whether a snapshot is no instant, as in the library; of short rounds only

VARIABLES
    cells,      \* the chain of each cell
    txns,       \* what is known of each thread's session
    oldest,     \* the global timestamps; 0: none
    stable

vars == <<cells, txns, oldest, stable>>

Keys == 4                                       \* of a table
Cell(table, key) == table * Keys + key + 1
Cells == 1..(2 * Keys)
Init == cells = [c \in Cells |-> <<>>] /\ txns = <<>> /\ oldest = 0 /\ stable = 0

EINVAL == 22
ROLLBACK == -31800
DUPLICATE == -31801
NOTFOUND == -31803
PREPARED == -31808

Nobody == -1
Gone == -1                                      \* the value of an update that removed the key
Running == 0                                    \* what became of an update
Undecided == 1                                  \* it is prepared
Committed == 2

----------------------------------------------------------------------------
\* Sessions. `first` and `last` are the changed cells, by the first and by the last change of each.

Idle == [open |-> FALSE, rc |-> FALSE, error |-> FALSE, read |-> 0, snap |-> FALSE, prepared |-> 0,
         count |-> 0, first |-> <<>>, last |-> <<>>, kept |-> {}, stage |-> 0, from |-> 0, to |-> 0,
         unread |-> {}]
Of(t) == IF t \in DOMAIN txns THEN txns[t] ELSE Idle
With(t, me) == IF me # Idle THEN (t :> me) @@ txns
               ELSE [o \in DOMAIN txns \ {t} |-> txns[o]]
Ended(me) == [Idle EXCEPT !.kept = me.kept]
Failed(me) == IF me.open THEN [me EXCEPT !.error = TRUE] ELSE me
Holders(t) == {o \in DOMAIN txns \ {t} : txns[o].snap}

\* A snapshot is taken by reading who runs, one session after the other: it may have what was
\* committed before its session was read, and not what was committed before that elsewhere. `unread`
\* are those of which that is open, until the call that takes the snapshot goes on.
Writers(t) ==
    IF ~Walks THEN {}
    ELSE {o \in DOMAIN txns \ {t} : txns[o].open /\ txns[o].count > 0 /\ txns[o].prepared = 0}
Looking(t) == {o \in DOMAIN txns : t \in txns[o].unread}
Leaves(t, me) ==
    LET others == [o \in DOMAIN txns \ {t} |-> [txns[o] EXCEPT !.unread = @ \ {t}]]
    IN  IF me # Idle THEN (t :> me) @@ others ELSE others

\* Nothing that others than t read from here on is older than this.
FloorFrom(age, t) ==
    LET ages == {age} \cup {txns[o].read : o \in {p \in DOMAIN txns \ {t} : txns[p].read > 0}}
    IN  CHOOSE least \in ages : \A other \in ages : least <= other
Floor(t) == FloorFrom(oldest, t)

----------------------------------------------------------------------------
\* Chains.

\* What everybody sees hides what is below it, and its age does not matter.
RECURSIVE Tidy(_, _)
Tidy(s, floor) ==
    IF s = <<>> THEN s
    ELSE LET u == Head(s)
         IN  IF u.is = Committed /\ u.by = Nobody /\ u.hidden = {} /\ u.durable <= floor
             THEN IF u.value = Gone THEN <<>> ELSE <<[u EXCEPT !.ts = 0, !.durable = 0]>>
             ELSE <<u>> \o Tidy(Tail(s), floor)

\* Thread t, which has no snapshot from here on, is not to be known any more.
Forgotten(all, t, floor) ==
    [c \in Cells |->
        IF all[c] = <<>> THEN <<>>
        ELSE Tidy([i \in 1..Len(all[c]) |-> [all[c][i] EXCEPT !.hidden = @ \ {t}]], floor)]

Sees(u, t, read) == \/ u.by = t
                    \/ u.is # Running /\ t \notin u.hidden /\ (read = 0 \/ u.ts <= read)

RECURSIVE Read(_, _, _)
Read(s, t, read) ==
    IF s = <<>> THEN NOTFOUND
    ELSE IF ~Sees(Head(s), t, read) THEN Read(Tail(s), t, read)
    ELSE IF Head(s).is = Undecided THEN PREPARED
    ELSE IF Head(s).value = Gone THEN NOTFOUND ELSE Head(s).value

\* Others have changed it since the snapshot.
Conflicts(s, t, me) == ~me.rc /\ s # <<>> /\ (Head(s).is = Undecided \/ ~Sees(Head(s), t, me.read))

Repeats(s, t) == s # <<>> /\ Head(s).by = t /\ ~Head(s).gap
Push(s, t, value) ==
    IF Repeats(s, t) THEN <<[Head(s) EXCEPT !.value = value, !.n = @ + 1]>> \o Tail(s)
    ELSE <<[by |-> t, is |-> Running, value |-> value, ts |-> 0, durable |-> 0, hidden |-> {},
            n |-> 1, gap |-> FALSE]>> \o s

\* After an update above was taken away: the next one of the same transaction is not beside it.
Below(s) == IF s # <<>> /\ Head(s).is = Running THEN <<[Head(s) EXCEPT !.gap = TRUE]>> \o Tail(s)
            ELSE s
RECURSIVE Without(_, _)
Without(s, t) == IF s = <<>> THEN s
                 ELSE IF Head(s).by = t THEN Below(Without(Tail(s), t))
                 ELSE <<Head(s)>> \o Without(Tail(s), t)

\* The updates of a prepared transaction are looked for from the top, up to one of another's.
RECURSIVE Run(_, _)
Run(s, t) == IF s # <<>> /\ Head(s).by = t THEN Head(s).n + Run(Tail(s), t) ELSE 0
RECURSIVE Decided(_, _, _, _)
Decided(s, t, ts, durable) ==
    IF s # <<>> /\ Head(s).by = t
    THEN <<[Head(s) EXCEPT !.is = Committed, !.ts = ts, !.durable = durable]>>
         \o Decided(Tail(s), t, ts, durable)
    ELSE s
RECURSIVE Dropped(_, _)
Dropped(s, t) == IF s # <<>> /\ Head(s).by = t THEN Below(Dropped(Tail(s), t)) ELSE s

\* All that t has is marked, and t is forgotten. `seen` have just not taken their snapshot.
Marked(t, is, ts, durable, floor, seen) ==
    LET holders == Holders(t) \ seen
        mark(u) == IF u.by # t THEN [u EXCEPT !.hidden = @ \ {t}]
                   ELSE [u EXCEPT !.is = is, !.ts = ts, !.durable = durable, !.hidden = holders,
                                  !.by = IF is = Committed THEN Nobody ELSE t,
                                  !.n = IF is = Committed THEN 0 ELSE @, !.gap = FALSE]
    IN  [c \in Cells |-> IF cells[c] = <<>> THEN <<>>
                         ELSE Tidy([i \in 1..Len(cells[c]) |-> mark(cells[c][i])], floor)]
\* All that t still has is nobody's: what is undecided remains so.
Left(all, t, floor) ==
    LET leave(u) == IF u.by # t THEN [u EXCEPT !.hidden = @ \ {t}]
                    ELSE [u EXCEPT !.by = Nobody, !.n = 0, !.gap = FALSE]
    IN  [c \in Cells |-> IF all[c] = <<>> THEN <<>>
                         ELSE Tidy([i \in 1..Len(all[c]) |-> leave(all[c][i])], floor)]
====
