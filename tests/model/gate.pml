/* gate.pml - one item, the people and rules that may let it go, and every crash
 *
 * A model of store/state.c, relay/send.c and relay/record.c, for spin(1). The claims at its
 * end are what nobody may break: an item leaves at most once, not without an authority that
 * stands at that moment, through the door not without a ticket that stands, and no crash leaves
 * it in the middle. GATED 1: sent through the mail
 * server's door, whose milter redeems the ticket; 0: to a next hop without the gate, the check
 * being made before the final dot. tests/model/check runs both.
 *
 * MOVE stands for queue_move; tests/model/moves compares its uses with the table. A person, the
 * clock, the world, the mail server, whoever replays tickets, and crashes come in any order. */
#ifndef GATED
#define GATED 1
#endif
/* TICKETS 1: tickets lapse, and come with other bytes, for the claim of that name; it needs one
 * crash, and no older copy, since a start ends every ticket. */
#ifndef TICKETS
#define TICKETS 0
#endif
#define ATTEMPTS 2
#define CRASHES  (2 - TICKETS)
#define REPLAYS  1

mtype = { HELD, DRAFT, DELAYED, APPROVED, SENDING, COMMITTING, UNCERTAIN, SENT, FAILED,
          REJECTED, VETOED, WITHDRAWN, EXPIRED, SUPERSEDED,
          BY_HUMAN }
mtype = { IDLE, BEGUN, ENTITLED, DOTTED } /* how far an attempt is */
mtype = { NOTHING, TAKEN, REFUSAL }       /* what the relay heard */

/* What the database has. */
typedef Database {
    mtype state;
    bool automatic; /* no person has approved it */
    bool approval;  /* a good one, not used */
    bool own;       /* the human was seen to send it from another program */
    byte ticket     /* the one that is good, 0 for none */
}
Database db, copy;
bool copied;  /* somebody keeps a copy of the database */
bool journal; /* beside the database: it was handed on */

/* What is lost in a crash. */
bool up;
mtype phase = IDLE, heard = NOTHING, from = HELD;
byte attempt;

/* The world, and what is true whatever the database says. */
chan door = [1] of { byte, bool }; /* messages after their dot: ticket, and whether bytes and
                                      envelope are the item's */
bool rule;                   /* the delay is over, and today's rules let it go */
bool given;                  /* a person approved it, and that still counts */
bool denied;                 /* a person stopped it */
byte standing;               /* the ticket that was minted, and not used or ended since */
bool late;                   /* its life is over */
bool misused;
byte left, crashes, replays;
bool unlawful;

#define MOVE(was, next) (up && db.state == was) -> db.state = next
#define may_leave (!db.own && ((db.automatic && rule) || (!db.automatic && db.approval)))
#define ticket_good \
    (ticket == db.ticket && same && !late && db.state == SENDING)
#define is_waiting \
    (db.state == HELD || db.state == DRAFT || db.state == DELAYED || db.state == APPROVED || \
     db.state == SENDING || db.state == COMMITTING)
#define lawful    (!db.own && (given || (rule && !denied)))

inline grant()
{
    db.approval = true;
    db.automatic = false;
    given = true
}

inline void_approvals()
{
    db.approval = false;
    given = false
}

/* In one transaction: the authority is looked at once more, and used. */
inline use_authority()
{
    if
    :: !lawful -> unlawful = true
    :: else
    fi;
    if
    :: db.automatic
    :: else -> void_approvals()
    fi;
    MOVE(SENDING, COMMITTING);
    db.ticket = 0
}

/* What the door may take for a ticket, by the truth alone. */
inline check_ticket()
{
    if
    :: TICKETS && (ticket == 0 || ticket != standing || !same || late || db.state != SENDING) ->
        misused = true
    :: else
    fi;
    standing = 0
}

/* Not sent. Refused for good, it has failed; else it goes back, if its authority stands. */
inline end_unsent()
{
    if
    :: heard == REFUSAL && may_leave && !GATED -> MOVE(SENDING, FAILED)
    :: heard == REFUSAL && may_leave && GATED && phase == BEGUN -> MOVE(SENDING, FAILED)
    :: heard != REFUSAL && may_leave && from == APPROVED -> MOVE(SENDING, APPROVED)
    :: heard != REFUSAL && may_leave && from == DELAYED -> MOVE(SENDING, DELAYED)
    :: else -> void_approvals(); MOVE(SENDING, HELD)
    fi
}

/* One that is being sent finds out when it asks for its authority. */
inline seen_from_human()
{
    db.own = true;
    if
    :: MOVE(HELD, BY_HUMAN)
    :: MOVE(DRAFT, BY_HUMAN)
    :: MOVE(DELAYED, BY_HUMAN)
    :: MOVE(APPROVED, BY_HUMAN)
    :: else
    fi
}

/* Records what became of an attempt. */
inline finish()
{
    if
    :: db.state == SENDING -> end_unsent()
    :: db.state == COMMITTING && heard == TAKEN -> MOVE(COMMITTING, SENT)
    :: db.state == COMMITTING && heard == REFUSAL -> MOVE(COMMITTING, FAILED)
    :: db.state == COMMITTING && heard == NOTHING -> MOVE(COMMITTING, UNCERTAIN)
    fi;
    db.ticket = 0;
    standing = 0;
    phase = IDLE;
    from = HELD;
    heard = NOTHING
}

active proctype Person()
{
end:
    do
    :: atomic { MOVE(HELD, APPROVED); grant() }
    :: atomic { MOVE(DRAFT, APPROVED); grant() }
    :: atomic { MOVE(DELAYED, APPROVED); grant() }
    :: atomic { MOVE(HELD, REJECTED); denied = true }
    :: atomic { MOVE(DRAFT, REJECTED); denied = true }
    :: atomic { MOVE(DELAYED, VETOED); denied = true }
    :: atomic { MOVE(APPROVED, VETOED); denied = true; given = false }
    :: atomic { MOVE(UNCERTAIN, SENT) }
    :: atomic { MOVE(UNCERTAIN, FAILED) }
    od
}

active proctype Agent()
{
    if
    :: atomic { MOVE(HELD, WITHDRAWN); denied = true }
    :: atomic { MOVE(DRAFT, WITHDRAWN); denied = true }
    :: atomic { MOVE(DELAYED, WITHDRAWN); denied = true }
    :: atomic { MOVE(HELD, SUPERSEDED); denied = true }
    :: atomic { MOVE(DRAFT, SUPERSEDED); denied = true }
    :: atomic { MOVE(DELAYED, SUPERSEDED); denied = true }
    :: true
    fi
}

/* Time passes, policies change, others write, rights are withdrawn. */
active proctype World()
{
end:
    do
    :: rule = !rule
    :: atomic { TICKETS && standing != 0 && !late -> late = true }
    :: atomic { given -> void_approvals() }
    :: atomic { MOVE(DELAYED, DRAFT); denied = true }
    :: atomic { MOVE(DELAYED, HELD); denied = true }
    :: atomic { MOVE(APPROVED, HELD); void_approvals() }
    :: atomic { up && is_waiting && !db.own -> seen_from_human() }
    :: atomic { MOVE(HELD, EXPIRED) }
    :: atomic { MOVE(DRAFT, EXPIRED) }
    :: atomic { !TICKETS && up && !copied && crashes < CRASHES && is_waiting ->
                copy.state = db.state; copy.automatic = db.automatic;
                copy.approval = db.approval; copy.own = db.own; copied = true }
    od
}

active proctype Sender()
{
end:
    do
    :: atomic { up && phase == IDLE && attempt < ATTEMPTS && may_leave &&
                (db.state == APPROVED || db.state == DELAYED) ->
                from = db.state;
                if
                :: MOVE(APPROVED, SENDING)
                :: MOVE(DELAYED, SENDING)
                fi;
                attempt++;
                phase = BEGUN;
                if
                :: GATED -> db.ticket = attempt; standing = attempt * TICKETS; late = false
                :: else
                fi }
    :: atomic { up && phase == BEGUN && GATED -> phase = DOTTED; door!attempt, true }
    /* The journal is synced before the transaction is committed. */
    :: up && phase == BEGUN && !GATED && may_leave -> journal = true
    :: atomic { up && phase == BEGUN && !GATED && may_leave && journal ->
                use_authority(); phase = ENTITLED }
    :: atomic { up && phase == ENTITLED -> phase = DOTTED; door!attempt, true }
    /* Refused, or cut off, before the dot; cut off after it; answered. */
    :: atomic { up && phase == BEGUN -> heard = REFUSAL; finish() }
    :: atomic { up && (phase == BEGUN || phase == ENTITLED || phase == DOTTED) &&
                heard == NOTHING -> finish() }
    :: atomic { up && phase == DOTTED && heard != NOTHING -> finish() }
    od
}

inline answer(what)
{
    if
    :: phase == DOTTED && attempt == ticket -> heard = what
    :: else
    fi
}

/* The server that gets the dot, with its milter or without one. */
active proctype Server()
{
    byte ticket;
    bool same, good;
end:
    do
    :: door?ticket, same ->
        good = !GATED;
        if
        :: GATED && up && ticket_good && may_leave ->
            journal = true;
            if
            :: atomic { up && ticket_good && may_leave ->
                        check_ticket(); use_authority(); good = true }
            :: !up || !ticket_good || !may_leave
            fi
        :: true /* the relay is not there, or says no */
        fi;
        if
        :: good -> atomic { left++; answer(TAKEN) }
        :: good -> left++ /* the answer is lost */
        :: true -> answer(REFUSAL)
        :: true /* killed */
        fi;
        good = false;
        same = false;
        ticket = 0
    od
}

/* Plays at the door what was sent there before, or other bytes with its ticket. */
active proctype Replayer()
{
end:
    do
    :: atomic { GATED && replays < REPLAYS && attempt > 0 && nfull(door) ->
                replays++;
                if
                :: door!attempt, true
                :: TICKETS -> door!attempt, false
                :: attempt > 1 -> door!attempt - 1, true
                fi }
    od
}

/* The database is an older copy, as the head of the audit record beside it shows: what was
 * handed on is uncertain, and what a person may have stopped since waits for a person. */
inline put_back()
{
    db.state = copy.state;
    db.automatic = copy.automatic;
    db.approval = copy.approval;
    db.own = copy.own;
    void_approvals();
    if
    :: journal ->
        if
        :: MOVE(HELD, UNCERTAIN)
        :: MOVE(DRAFT, UNCERTAIN)
        :: MOVE(DELAYED, UNCERTAIN)
        :: MOVE(APPROVED, UNCERTAIN)
        :: MOVE(SENDING, UNCERTAIN)
        :: else
        fi
    :: else ->
        if
        :: MOVE(APPROVED, HELD)
        :: MOVE(DELAYED, HELD)
        :: MOVE(SENDING, HELD)
        :: else
        fi
    fi
}

active proctype Crash()
{
end:
    do
    :: atomic { up && crashes < CRASHES ->
                crashes++; up = false; phase = IDLE; from = HELD; heard = NOTHING }
    :: atomic { crashes > 0 && !up ->
                up = true;
                if
                :: copied -> put_back()
                :: true
                fi;
                if
                :: db.automatic -> if :: MOVE(SENDING, DELAYED) :: else fi
                :: else -> if :: MOVE(SENDING, APPROVED) :: else fi
                fi;
                if
                :: MOVE(COMMITTING, UNCERTAIN)
                :: else
                fi;
                db.ticket = 0;
                standing = 0 }
    od
}

init {
    db.automatic = true;
    if
    :: db.state = HELD
    :: db.state = DRAFT
    :: db.state = DELAYED
    fi;
    up = true
}

#define ONCE (left <= 1)
#define AUTHORITY (!unlawful)
#define REST ((up && phase == IDLE) -> (db.state != SENDING && db.state != COMMITTING))
/* What is said to be sent has left, and what a person may still decide has not. */
#define TRUTH (left == 1 -> (db.state == COMMITTING || db.state == UNCERTAIN || \
                             db.state == SENT || db.state == FAILED))
ltl once { [] ONCE }
ltl authority { [] AUTHORITY }
ltl ticket { [] !misused }
ltl rest { [] REST }
ltl truth { [] TRUTH }
/* All that need no ticket, for one search. */
ltl all { [] (ONCE && AUTHORITY && REST && TRUTH) }
