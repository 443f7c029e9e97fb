---- MODULE WiredTiger ----
\* Transactions of WiredTiger 3.2 over two tables with the keys 0 to 3: what its calls answer.
\*
\* WiredTigerEnds has how they begin and end; here is what they read and write, and the global
\* timestamps. docs/wiredtiger.md says where the library differs from its documentation.
EXTENDS WiredTigerEnds

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
    IN  /\ txns' = With(t, [me EXCEPT !.kept = kept, !.snap = snap, !.stage = 0,
                                  !.unread = {}])
        /\ cells' = IF me.snap /\ ~snap THEN Forgotten(all, t, Floor(Nobody)) ELSE all
        /\ UNCHANGED <<oldest, stable>>

\* A snapshot of its own, where what is read may change though the snapshot does not.
TakeSnapshot(t, table, c) ==
    LET me == Of(t)  now == Unkept(me, table)
    IN  /\ me.rc /\ me.stage = 0 /\ ~now.snap /\ me.prepared = 0
        /\ Writers(t) # {} \/ \E i \in 1..Len(cells[c]) : cells[c][i].is = Undecided
        /\ cells' = Before(t, me, now)
        /\ txns' = With(t, [now EXCEPT !.snap = TRUE, !.stage = 1, !.unread = Writers(t)])
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
           /\ txns' = With(t, [now EXCEPT !.snap = TRUE, !.stage = 2, !.unread = {}])
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
           THEN /\ txns' = With(thread, [me EXCEPT !.snap = TRUE, !.stage = 1,
                                                   !.unread = Writers(thread)])
                /\ UNCHANGED <<cells, oldest, stable>>
           ELSE LET from == Start(me, thread, table, low)
                    to == Stop(me, thread, table, high)
                IN  /\ from # PREPARED /\ to # PREPARED /\ from < to
                    /\ ~Conflicts(cells[Cell(table, from)], thread, me)
                    /\ cells' = RemoveKey(thread, table, from)
                    /\ txns' = With(thread, [Removed(me, thread, table, from) EXCEPT
                                             !.stage = 2, !.from = from + 1, !.to = to,
                                             !.unread = {}])
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
            /\ LET floor == FloorFrom(answer.at, Nobody)
               IN  cells' = [c \in Cells |-> Tidy(cells[c], floor)]
       ELSE UNCHANGED <<oldest, cells>>
    /\ UNCHANGED <<txns, stable>>

\* A prepared transaction does not hinder it. (Nor need one that only reads: it is not called then.)
RollbackToStable(thread, answer) ==
    LET me == Of(thread)
        floor == Floor(Nobody)
        stays(u) == u.durable <= stable
    IN  /\ \A o \in DOMAIN txns \ {thread} : ~txns[o].open /\ txns[o].stage = 0
        /\ IF stable = 0 \/ (me.count > 0 /\ me.prepared = 0)
           THEN answer = EINVAL /\ UNCHANGED vars
           ELSE /\ answer = 0
                /\ cells' = [c \in Cells |-> Tidy(SelectSeq(cells[c], stays), floor)]
                /\ UNCHANGED <<txns, oldest, stable>>
====
