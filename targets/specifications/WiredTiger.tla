---- MODULE WiredTiger ----
\* Transactions of WiredTiger 3.2 over two tables with the keys 0 to 3: what its calls answer.
\*
\* A cell is a key of a table. It has a chain of updates, the last modification first, whatever the
\* order of the commits. What nobody can see any more is left out, so that histories that lead to
\* the same answers lead to the same state. A call that is no instant takes steps.
EXTENDS Integers, Sequences, FiniteSets, TLC

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
         count |-> 0, first |-> <<>>, last |-> <<>>, kept |-> {}, stage |-> 0, from |-> 0, to |-> 0]
Of(t) == IF t \in DOMAIN txns THEN txns[t] ELSE Idle
With(t, me) == IF me # Idle THEN (t :> me) @@ txns
               ELSE [o \in DOMAIN txns \ {t} |-> txns[o]]
Ended(me) == [Idle EXCEPT !.kept = me.kept]
Failed(me) == IF me.open THEN [me EXCEPT !.error = TRUE] ELSE me
Holders(t) == {o \in DOMAIN txns \ {t} : txns[o].snap}

\* Nothing that is read from here on is older than this.
Floor(t) == LET ages == {oldest} \cup {txns[o].read : o \in {p \in DOMAIN txns \ {t} : txns[p].read > 0}}
            IN  CHOOSE age \in ages : \A other \in ages : age <= other

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

\* All that t has is marked, and t is forgotten.
Marked(t, is, ts, durable, floor) ==
    LET holders == Holders(t)
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

----------------------------------------------------------------------------
\* Begins.

Refused(t, code) == code = EINVAL /\ txns' = With(t, Failed(Of(t))) /\ UNCHANGED <<cells, oldest, stable>>

Started(t, rc, read) ==
    txns' = With(t, [Idle EXCEPT !.open = TRUE, !.rc = rc, !.snap = ~rc, !.read = read,
                                 !.kept = Of(t).kept])

Begin(thread, answer) ==
    IF Of(thread).open THEN Refused(thread, answer)
    ELSE answer = 0 /\ Started(thread, FALSE, 0) /\ UNCHANGED <<cells, oldest, stable>>

BeginReadCommitted(thread, answer) ==
    IF Of(thread).open THEN Refused(thread, answer)
    ELSE answer = 0 /\ Started(thread, TRUE, 0) /\ UNCHANGED <<cells, oldest, stable>>

\* The read timestamp is checked before the snapshot is taken.
BeginAt_Step(thread, back, answer) ==
    LET me == Of(thread)
    IN  /\ ~me.open /\ me.stage = 0 /\ answer.code = 0 /\ answer.at >= oldest
        /\ txns' = With(thread, [me EXCEPT !.stage = 1, !.read = answer.at])
        /\ UNCHANGED <<cells, oldest, stable>>

BeginAt_Done(thread, back, answer) ==
    LET me == Of(thread)
    IN  IF me.stage = 1
        THEN Started(thread, FALSE, answer.at) /\ UNCHANGED <<cells, oldest, stable>>
        ELSE (me.open \/ answer.at < oldest) /\ Refused(thread, answer.code)

----------------------------------------------------------------------------
\* The end of a transaction. Stages: 1: its timestamps were found right; 2: it is being rolled back.

CannotEnd(me) == ~me.open \/ (me.error /\ me.count > 0)

\* One cell after the other.
Order(me) == IF me.prepared > 0 THEN me.first ELSE me.last
RollBack(all, t, me) ==
    LET c == Head(Order(me))
    IN  [all EXCEPT ![c] = IF me.prepared > 0 THEN Dropped(@, t) ELSE Without(@, t)]
FoundBy(t, me) == IF me.prepared > 0 THEN Run(cells[Head(me.first)], t) ELSE 0
Next_(me) == IF me.prepared > 0 THEN [me EXCEPT !.first = Tail(@)] ELSE [me EXCEPT !.last = Tail(@)]

RollBack_Step(t, me) ==
    /\ Len(Order(me)) > 1
    /\ cells' = RollBack(cells, t, me)
    /\ txns' = With(t, [Next_(me) EXCEPT !.stage = 2, !.from = @ + FoundBy(t, me)])
    /\ UNCHANGED <<oldest, stable>>

\* A prepared transaction that does not find all its updates stays open; they stay undecided.
RollBack_Done(t, me, code, failure) ==
    LET is_last == Order(me) # <<>>
        found == me.from + (IF is_last THEN FoundBy(t, me) ELSE 0)
        all == IF is_last THEN RollBack(cells, t, me) ELSE cells
        floor == Floor(t)
    IN  /\ Len(Order(me)) <= 1
        /\ IF me.prepared > 0 /\ me.first # <<>> /\ found # me.count
           THEN /\ code = EINVAL
                /\ cells' = Left(all, t, floor)
                /\ txns' = With(t, [me EXCEPT !.first = <<>>, !.last = <<>>, !.error = TRUE,
                                              !.stage = 0, !.from = 0])
           ELSE /\ code = failure
                /\ cells' = Left(all, t, floor)
                /\ txns' = With(t, Ended(me))
        /\ UNCHANGED <<oldest, stable>>

Publish(t, me, ts) ==
    /\ cells' = Marked(t, Committed, ts, ts, Floor(t))
    /\ txns' = With(t, Ended(me))
    /\ UNCHANGED <<oldest, stable>>

\* Without a timestamp, which a prepared transaction needs.
Commit_Step(thread, answer) ==
    LET me == Of(thread)
    IN  answer = EINVAL /\ ~CannotEnd(me) /\ me.prepared > 0 /\ RollBack_Step(thread, me)
Commit_Done(thread, answer) ==
    LET me == Of(thread)
    IN  IF CannotEnd(me) THEN Refused(thread, answer)
        ELSE IF me.prepared > 0 THEN RollBack_Done(thread, me, answer, EINVAL)
        ELSE answer = 0 /\ Publish(thread, me, 0)

TooEarly(at) == at < oldest \/ at < stable

CommitAt_Step(thread, ahead, answer) ==
    LET me == Of(thread)
    IN  /\ ~CannotEnd(me)
        /\ IF answer.code = 0
           THEN /\ me.stage = 0 /\ ~me.rc /\ me.prepared = 0 /\ ~TooEarly(answer.at)
                /\ txns' = With(thread, [me EXCEPT !.stage = 1])
                /\ UNCHANGED <<cells, oldest, stable>>
           ELSE /\ me.stage = 2 \/ me.rc \/ me.prepared > 0 \/ TooEarly(answer.at)
                /\ RollBack_Step(thread, me)
CommitAt_Done(thread, ahead, answer) ==
    LET me == Of(thread)
    IN  IF me.stage = 1 THEN Publish(thread, me, answer.at)
        ELSE IF CannotEnd(me) THEN Refused(thread, answer.code)
        ELSE /\ me.stage = 2 \/ me.rc \/ me.prepared > 0 \/ TooEarly(answer.at)
             /\ RollBack_Done(thread, me, answer.code, EINVAL)

\* The oldest timestamp is looked at before others see what is prepared.
Prepare_Step(thread, ahead, answer) ==
    LET me == Of(thread)
    IN  /\ answer.code = 0 /\ ~CannotEnd(me) /\ me.prepared = 0 /\ me.stage = 0
        /\ answer.at >= oldest
        /\ txns' = With(thread, [me EXCEPT !.stage = 1])
        /\ UNCHANGED <<cells, oldest, stable>>
Prepare_Done(thread, ahead, answer) ==
    LET me == Of(thread)
    IN  IF me.stage = 1
        THEN /\ cells' = Marked(thread, Undecided, answer.at, 0, Floor(thread))
             /\ txns' = With(thread, [me EXCEPT !.prepared = answer.at, !.snap = FALSE, !.read = 0,
                                                !.stage = 0])
             /\ UNCHANGED <<oldest, stable>>
        ELSE /\ CannotEnd(me) \/ me.prepared > 0 \/ answer.at < oldest
             /\ Refused(thread, answer.code)

WrongTimes(me, answer) == \/ me.rc \/ me.prepared = 0 \/ answer.at < me.prepared
                          \/ TooEarly(answer.durable) \/ answer.durable < answer.at

\* Of a commit that finds the timestamps right: the updates are decided one cell after the other.
DecideOne(t, me, answer) ==
    IF me.first = <<>> THEN cells
    ELSE [cells EXCEPT ![Head(me.first)] = Decided(@, t, answer.at, answer.durable)]
Found(t, me) == me.from + (IF me.first = <<>> THEN 0 ELSE Run(cells[Head(me.first)], t))

CommitPrepared_Step(thread, ahead, longer, answer) ==
    LET me == Of(thread)
    IN  /\ ~CannotEnd(me)
        /\ \/ /\ me.stage = 0 /\ ~WrongTimes(me, answer)
              /\ txns' = With(thread, [me EXCEPT !.stage = 1])
              /\ UNCHANGED <<cells, oldest, stable>>
           \/ /\ me.stage = 1 /\ Len(me.first) > 1
              /\ cells' = DecideOne(thread, me, answer)
              /\ txns' = With(thread, [me EXCEPT !.first = Tail(@), !.from = Found(thread, me)])
              /\ UNCHANGED <<oldest, stable>>
           \/ /\ me.stage = 2 \/ (me.stage = 0 /\ WrongTimes(me, answer))
              /\ answer.code # 0
              /\ RollBack_Step(thread, me)
\* It fails if it has not found all its updates, but those that it has found are committed.
CommitPrepared_Done(thread, ahead, longer, answer) ==
    LET me == Of(thread)
    IN  IF CannotEnd(me) THEN Refused(thread, answer.code)
        ELSE IF me.stage = 1
        THEN /\ Len(me.first) <= 1
             /\ answer.code = IF Found(thread, me) = me.count THEN 0 ELSE EINVAL
             /\ cells' = Left(DecideOne(thread, me, answer), thread, Floor(thread))
             /\ txns' = With(thread, Ended(me))
             /\ UNCHANGED <<oldest, stable>>
        ELSE /\ me.stage = 2 \/ WrongTimes(me, answer)
             /\ RollBack_Done(thread, me, answer.code, EINVAL)

\* All cursors are reset.
Rollback_Step(thread, answer) == Of(thread).open /\ RollBack_Step(thread, Of(thread))
Rollback_Done(thread, answer) ==
    LET me == Of(thread)
    IN  IF ~me.open THEN Refused(thread, answer)
        ELSE RollBack_Done(thread, [me EXCEPT !.kept = {}], answer, 0)

----------------------------------------------------------------------------
\* Reads and writes. A read-committed transaction has a snapshot while a cursor is kept; its call
\* takes one in stage 1, and finds in stage 2 that it may write.

\* Before the call, without the position of the cursor that it uses.
Unkept(me, table) ==
    LET kept == me.kept \ {table}
    IN  [me EXCEPT !.kept = kept, !.snap = IF me.rc /\ kept = {} THEN FALSE ELSE @]
Before(t, me, now) == IF me.snap /\ ~now.snap THEN Forgotten(cells, t, Floor(Nobody)) ELSE cells

\* After it: `keeps` says whether the cursor stays.
After(t, me, all, table, keeps) ==
    LET kept == IF keeps THEN me.kept \cup {table} ELSE me.kept \ {table}
        snap == IF me.rc THEN kept # {} ELSE me.snap
    IN  /\ txns' = With(t, [me EXCEPT !.kept = kept, !.snap = snap, !.stage = 0])
        /\ cells' = IF me.snap /\ ~snap THEN Forgotten(all, t, Floor(Nobody)) ELSE all
        /\ UNCHANGED <<oldest, stable>>

\* A snapshot of its own, where what is read may change though the snapshot does not.
TakeSnapshot(t, table, c) ==
    LET me == Of(t)  now == Unkept(me, table)
    IN  /\ me.rc /\ me.stage = 0 /\ ~now.snap /\ me.prepared = 0
        /\ \E i \in 1..Len(cells[c]) : cells[c][i].is = Undecided
        /\ cells' = Before(t, me, now)
        /\ txns' = With(t, [now EXCEPT !.snap = TRUE, !.stage = 1])
        /\ UNCHANGED <<oldest, stable>>
Now(me, table) == IF me.stage = 0 THEN Unkept(me, table) ELSE me

CannotCall(me) == ~me.open \/ me.prepared > 0

Search_Step(thread, table, key, answer) == TakeSnapshot(thread, table, Cell(table, key))
Search_Done(thread, table, key, answer) ==
    LET me == Of(thread)
        now == Now(me, table)
        all == Before(thread, me, now)
    IN  IF CannotCall(me) THEN Refused(thread, answer)
        ELSE /\ answer = Read(all[Cell(table, key)], thread, me.read)
             /\ After(thread, now, all, table, answer >= 0)

Changed(me, c, repeats) ==
    [me EXCEPT !.count = @ + 1,
               !.first = IF repeats THEN @ ELSE Append(@, c),
               !.last = Append(SelectSeq(@, LAMBDA d : d # c), c)]

\* What a write of a cell answers, 0 if it may be done. One that adds looks for conflicts last.
Code(s, t, me, adds) ==
    LET reads == Read(s, t, me.read)
        code == IF reads = PREPARED THEN ROLLBACK
                ELSE IF adds THEN (IF reads = NOTFOUND THEN 0 ELSE DUPLICATE)
                ELSE IF reads = NOTFOUND THEN NOTFOUND ELSE 0
    IN  IF adds /\ code # 0 THEN code ELSE IF Conflicts(s, t, me) THEN ROLLBACK ELSE code

Write_Step(t, table, key, answer, adds) ==
    LET c == Cell(table, key)
        me == Of(t)
        now == Now(me, table)
        all == Before(t, me, now)
    IN  \/ TakeSnapshot(t, table, c)
        \/ /\ me.rc /\ me.stage < 2 /\ me.prepared = 0 /\ answer = 0
           /\ Code(all[c], t, me, adds) = 0
           /\ cells' = all
           /\ txns' = With(t, [now EXCEPT !.snap = TRUE, !.stage = 2])
           /\ UNCHANGED <<oldest, stable>>

Write_Done(t, table, key, value, answer, adds, keeps) ==
    LET c == Cell(table, key)
        me == Of(t)
        now == Now(me, table)
        all == Before(t, me, now)
    IN  IF CannotCall(me) THEN Refused(t, answer)
        ELSE IF answer = 0
        THEN /\ me.stage = 2 \/ (~me.rc /\ Code(all[c], t, me, adds) = 0)
             /\ After(t, Changed(now, c, Repeats(all[c], t)),
                      [all EXCEPT ![c] = Push(@, t, value)], table, keeps)
        ELSE /\ me.stage < 2 /\ answer = Code(all[c], t, me, adds)
             /\ After(t, IF answer = ROLLBACK THEN Failed(now) ELSE now, all, table, FALSE)

Insert_Step(thread, table, key, value, answer) == Write_Step(thread, table, key, answer, TRUE)
Insert_Done(thread, table, key, value, answer) ==
    Write_Done(thread, table, key, value, answer, TRUE, FALSE)
Update_Step(thread, table, key, value, answer) == Write_Step(thread, table, key, answer, FALSE)
Update_Done(thread, table, key, value, answer) ==
    Write_Done(thread, table, key, value, answer, FALSE, TRUE)
Remove_Step(thread, table, key, answer) == Write_Step(thread, table, key, answer, FALSE)
Remove_Done(thread, table, key, answer) ==
    Write_Done(thread, table, key, Gone, answer, FALSE, FALSE)

Reset(thread, answer) ==
    LET me == Of(thread)  now == [me EXCEPT !.kept = {}, !.snap = ~me.rc /\ @]
    IN  /\ answer = 0
        /\ cells' = Before(thread, me, now)
        /\ txns' = With(thread, now)
        /\ UNCHANGED <<oldest, stable>>

----------------------------------------------------------------------------
\* Truncate looks for both ends, and then removes key after key. Beyond each end there is a key.

RECURSIVE Up(_, _, _, _)
Up(table, key, t, read) ==
    IF key = Keys THEN key
    ELSE LET reads == Read(cells[Cell(table, key)], t, read)
         IN  IF reads = NOTFOUND THEN Up(table, key + 1, t, read)
             ELSE IF reads = PREPARED THEN PREPARED ELSE key
RECURSIVE Down(_, _, _, _)
Down(table, key, t, read) ==
    IF key < 0 THEN key
    ELSE LET reads == Read(cells[Cell(table, key)], t, read)
         IN  IF reads = NOTFOUND THEN Down(table, key - 1, t, read)
             ELSE IF reads = PREPARED THEN PREPARED ELSE key

\* The last key: where that is not in the table, the one above is looked for first.
End(table, high, t, read) ==
    LET above == Up(table, high, t, read)
    IN  IF above = PREPARED \/ above = high THEN above ELSE Down(table, high - 1, t, read)

Start(me, t, table, low) == Up(table, IF me.stage = 2 THEN me.from ELSE low, t, me.read)
Stop(me, t, table, high) == IF me.stage = 2 THEN me.to ELSE End(table, high, t, me.read)

RemoveKey(t, table, key) ==
    LET c == Cell(table, key) IN [cells EXCEPT ![c] = Push(@, t, Gone)]
Removed(me, t, table, key) ==
    LET c == Cell(table, key) IN Changed(me, c, Repeats(cells[c], t))

Truncate_Step(thread, table, low, high, answer) ==
    LET me == Of(thread)
    IN  /\ ~CannotCall(me) /\ low <= high
        /\ IF me.rc /\ ~me.snap
           THEN /\ txns' = With(thread, [me EXCEPT !.snap = TRUE, !.stage = 1])
                /\ UNCHANGED <<cells, oldest, stable>>
           ELSE LET from == Start(me, thread, table, low)
                    to == Stop(me, thread, table, high)
                IN  /\ from # PREPARED /\ to # PREPARED /\ from < to
                    /\ ~Conflicts(cells[Cell(table, from)], thread, me)
                    /\ cells' = RemoveKey(thread, table, from)
                    /\ txns' = With(thread, [Removed(me, thread, table, from) EXCEPT
                                             !.stage = 2, !.from = from + 1, !.to = to])
                    /\ UNCHANGED <<oldest, stable>>

Truncate_Done(thread, table, low, high, answer) ==
    LET me == Of(thread)
        end(now, all) == After(thread, [now EXCEPT !.from = 0, !.to = 0], all, table,
                               table \in me.kept)
        from == Start(me, thread, table, low)
        to == Stop(me, thread, table, high)
    IN  IF CannotCall(me) \/ low > high THEN Refused(thread, answer)
        ELSE IF from = PREPARED \/ to = PREPARED THEN answer = PREPARED /\ end(me, cells)
        ELSE IF from > to THEN answer = 0 /\ end(me, cells)
        ELSE IF Conflicts(cells[Cell(table, from)], thread, me)
        THEN answer = ROLLBACK /\ end(Failed(me), cells)
        ELSE /\ from = to /\ answer = 0
             /\ end(Removed(me, thread, table, from), RemoveKey(thread, table, from))

----------------------------------------------------------------------------
\* The global timestamps, which never go back.

SetStable(back, answer) ==
    /\ answer.code = IF answer.at < oldest THEN EINVAL ELSE 0
    /\ stable' = IF answer.code = 0 /\ answer.at > stable THEN answer.at ELSE stable
    /\ UNCHANGED <<cells, txns, oldest>>

SetOldest(back, answer) ==
    /\ answer.code = IF stable # 0 /\ answer.at > stable THEN EINVAL ELSE 0
    /\ IF answer.code = 0 /\ answer.at > oldest
       THEN /\ oldest' = answer.at
            /\ cells' = LET ages == {answer.at} \cup {txns[o].read : o \in {p \in DOMAIN txns : txns[p].read > 0}}
                            floor == CHOOSE age \in ages : \A other \in ages : age <= other
                        IN  [c \in Cells |-> Tidy(cells[c], floor)]
       ELSE UNCHANGED <<oldest, cells>>
    /\ UNCHANGED <<txns, stable>>

\* A prepared transaction does not hinder it. (Nor need one that only reads: it is not called then.)
RollbackToStable(thread, answer) ==
    LET me == Of(thread)
        floor == Floor(Nobody)
        stays(u) == u.durable <= stable
    IN  /\ \A o \in DOMAIN txns \ {thread} : ~txns[o].open
        /\ IF stable = 0 \/ (me.count > 0 /\ me.prepared = 0)
           THEN answer = EINVAL /\ UNCHANGED vars
           ELSE /\ answer = 0
                /\ cells' = [c \in Cells |-> Tidy(SelectSeq(cells[c], stays), floor)]
                /\ UNCHANGED <<txns, oldest, stable>>
====
