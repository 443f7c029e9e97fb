---- MODULE WiredTigerEnds ----
\* How transactions of WiredTiger.tla begin and end. A call that is no instant takes steps.
EXTENDS WiredTigerChains

\* Begins.

Refused(t, code) ==
    code = EINVAL /\ txns' = With(t, Failed(Of(t))) /\ UNCHANGED <<cells, oldest, stable>>

Started(t, rc, read) ==
    txns' = With(t, [Idle EXCEPT !.open = TRUE, !.rc = rc, !.snap = ~rc, !.read = read,
                                 !.kept = Of(t).kept])

Looks(t, me) ==
    /\ me.stage < 3 /\ Writers(t) # {}
    /\ txns' = With(t, [me EXCEPT !.stage = 3, !.snap = TRUE, !.unread = Writers(t)])
    /\ UNCHANGED <<cells, oldest, stable>>

Begin_Step(thread, answer) == LET me == Of(thread) IN ~me.open /\ answer = 0 /\ Looks(thread, me)
Begin_Done(thread, answer) ==
    IF Of(thread).open THEN Refused(thread, answer)
    ELSE answer = 0 /\ Started(thread, FALSE, 0) /\ UNCHANGED <<cells, oldest, stable>>

BeginReadCommitted(thread, answer) ==
    IF Of(thread).open THEN Refused(thread, answer)
    ELSE answer = 0 /\ Started(thread, TRUE, 0) /\ UNCHANGED <<cells, oldest, stable>>

\* The read timestamp is checked before the snapshot is taken.
BeginAt_Step(thread, back, answer) ==
    LET me == Of(thread)
    IN  /\ ~me.open /\ answer.code = 0
        /\ \/ /\ me.stage = 0 /\ answer.at >= oldest
              /\ txns' = With(thread, [me EXCEPT !.stage = 1, !.read = answer.at])
              /\ UNCHANGED <<cells, oldest, stable>>
           \/ me.stage = 1 /\ Looks(thread, me)

BeginAt_Done(thread, back, answer) ==
    LET me == Of(thread)
    IN  IF me.stage > 0
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
                /\ txns' = Leaves(t, [me EXCEPT !.first = <<>>, !.last = <<>>, !.error = TRUE,
                                              !.stage = 0, !.from = 0])
           ELSE /\ code = failure
                /\ cells' = Left(all, t, floor)
                /\ txns' = Leaves(t, Ended(me))
        /\ UNCHANGED <<oldest, stable>>

Publish(t, me, ts) ==
    /\ \E seen \in SUBSET Looking(t) :
           cells' = Marked(t, Committed, ts, ts, Floor(t), seen)
    /\ txns' = Leaves(t, Ended(me))
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
        THEN /\ \E seen \in SUBSET Looking(thread) :
                    cells' = Marked(thread, Undecided, answer.at, 0, Floor(thread), seen)
             /\ txns' = Leaves(thread, [me EXCEPT !.prepared = answer.at, !.snap = FALSE,
                                                  !.read = 0, !.stage = 0])
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
====
