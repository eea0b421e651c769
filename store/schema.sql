-- schema.sql - settings, transactions and tables
--
-- Tables come as numbered migrations: a published one is never edited, a change is a new one
-- at the end, listed in schema.c. Times are epoch seconds; a yes or no is 1 or 0.

-- SQLite alone reads this. FULL: a commit that returned survives a power cut. The two limits
-- keep the log from growing for ever after one large message; the first is so high that a page
-- which many commits change is written back once for all of them. The cache, 8 MiB, holds what
-- a batch of an import changes: pages that do not fit are written more than once.
-- name: connection_settings
PRAGMA synchronous = FULL;
PRAGMA foreign_keys = ON;
PRAGMA cache_size = -8192;
PRAGMA trusted_schema = OFF;
PRAGMA cell_size_check = ON;
PRAGMA wal_autocheckpoint = 4000;
PRAGMA journal_size_limit = 67108864;

-- name: connection_wal
PRAGMA journal_mode = WAL;

-- Changes when another handle has committed, and stays while only we do.
-- name: foreign_version
PRAGMA data_version;

-- SQLite alone reads this, too: a copy of everything, in a file of its own.
-- name: copy_whole
VACUUM INTO $1;

-- Immediate: a writer that cannot write learns it here, not half way.
-- name: transaction_begin
BEGIN IMMEDIATE;

-- name: transaction_read
BEGIN;

-- name: transaction_commit
COMMIT;

-- name: transaction_rollback
ROLLBACK;

-- name: savepoint_set
SAVEPOINT job;

-- name: savepoint_release
RELEASE SAVEPOINT job;

-- name: savepoint_undo
ROLLBACK TO SAVEPOINT job;
RELEASE SAVEPOINT job;

-- name: version_table
CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL PRIMARY KEY);

-- name: version_read
SELECT MAX(version) FROM schema_version;

-- name: version_write
INSERT INTO schema_version (version) VALUES ($1);

-- Numbers that only grow, one row per kind: what a clock cannot give within one second.
-- Two statements: SQLite makes a table of its own for RETURNING, which costs more than both.
-- name: counter_raise
INSERT INTO counter (name, last) VALUES ($1, $2)
    ON CONFLICT (name) DO UPDATE SET last = counter.last + excluded.last;

-- name: counter_read
SELECT last FROM counter WHERE name = $1;

-- name: schema_1
-- WITHOUT ROWID is for SQLite alone: a row stands in the tree of its key, so that looking it
-- up goes down one tree, not two. With millions of rows each is a page read at a random place,
-- and written at one. INTEGER PRIMARY KEY does the same for a key that is a number; an index
-- of such a table has it as its last column. What is written for every message has as few
-- trees as can answer for it.
CREATE TABLE counter (
    name TEXT NOT NULL PRIMARY KEY,
    last BIGINT NOT NULL
) WITHOUT ROWID;

--
-- What the human has sent before. "event" is the counter's number of the observation. times
-- is 0 and vouched a time when only an admin said so. seal, here and below: warrant.h.
CREATE TABLE correspondent (
    account TEXT NOT NULL,
    address TEXT NOT NULL,
    skeleton TEXT NOT NULL,
    times BIGINT NOT NULL,
    first_written BIGINT NOT NULL,
    last_written BIGINT NOT NULL,
    event BIGINT NOT NULL,
    vouched BIGINT NOT NULL,
    voucher TEXT NOT NULL,
    seal BLOB NOT NULL,
    PRIMARY KEY (account, address)
) WITHOUT ROWID;
CREATE INDEX correspondent_skeleton ON correspondent (account, skeleton, address);
-- The domains of correspondents, and the words by which those that look alike are found.
CREATE TABLE domain (
    account TEXT NOT NULL,
    name TEXT NOT NULL,
    correspondents BIGINT NOT NULL,
    PRIMARY KEY (account, name)
) WITHOUT ROWID;
CREATE TABLE domain_key (
    account TEXT NOT NULL,
    word TEXT NOT NULL,
    name TEXT NOT NULL,
    PRIMARY KEY (account, word, name)
) WITHOUT ROWID;
-- needed: a received id that is old and stays, for a conversation of the human. automatic: a
-- machine wrote a message with that id. kind: for IN with more than two words SQLite makes a
-- table of its own at every row, which costs more than the row.
CREATE TABLE message (
    account TEXT NOT NULL,
    id TEXT NOT NULL,
    conversation BIGINT NOT NULL,
    kind TEXT NOT NULL CHECK (kind = 'received' OR kind = 'agent' OR kind = 'human'
                              OR kind = 'named'),
    seen BIGINT NOT NULL,
    needed INTEGER NOT NULL,
    automatic INTEGER NOT NULL,
    PRIMARY KEY (account, id)
) WITHOUT ROWID;
CREATE INDEX message_received ON message (account, needed, seen) WHERE kind = 'received';
-- message, written: the human's last one to the address in the conversation. A conversation
-- without a row is none in which the human wrote.
CREATE TABLE participant (
    account TEXT NOT NULL,
    conversation BIGINT NOT NULL,
    address TEXT NOT NULL,
    message TEXT NOT NULL,
    written BIGINT NOT NULL,
    seal BLOB NOT NULL,
    PRIMARY KEY (account, conversation, address)
) WITHOUT ROWID;
CREATE INDEX participant_letters ON participant (account, address, written);
-- Addresses in received texts: where each was first and last seen. aimed: it was a
-- correspondent then.
CREATE TABLE mention (
    account TEXT NOT NULL,
    address TEXT NOT NULL,
    event BIGINT NOT NULL,
    first_message TEXT NOT NULL,
    first_sender TEXT NOT NULL,
    first_seen BIGINT NOT NULL,
    last_message TEXT NOT NULL,
    last_sender TEXT NOT NULL,
    last_seen BIGINT NOT NULL,
    aimed INTEGER NOT NULL,
    PRIMARY KEY (account, address)
) WITHOUT ROWID;
CREATE INDEX mention_age ON mention (account, last_seen);
CREATE INDEX mention_sender ON mention (account, aimed, last_sender, last_seen);
CREATE TABLE list (
    account TEXT NOT NULL,
    address TEXT NOT NULL,
    seen BIGINT NOT NULL,
    PRIMARY KEY (account, address)
) WITHOUT ROWID;
CREATE INDEX list_age ON list (account, seen);

-- Items. seq: order of creation. waiting (queue.c) and timer follow from the other columns, so
-- that the partial indexes hold only what still matters and stay small beside millions of
-- finished items. aside: the record is damaged.
CREATE TABLE item (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    account TEXT NOT NULL,
    login TEXT NOT NULL,
    author TEXT NOT NULL,
    submission_key TEXT NOT NULL,
    digest TEXT NOT NULL,
    message_id TEXT NOT NULL,
    conversation BIGINT NOT NULL,
    state TEXT NOT NULL,
    waiting INTEGER NOT NULL,
    tier TEXT NOT NULL,
    approvals BIGINT NOT NULL,
    line BIGINT NOT NULL,
    file TEXT NOT NULL,
    reason TEXT NOT NULL,
    policy TEXT NOT NULL,
    why TEXT NOT NULL,
    answer TEXT NOT NULL,
    automatic INTEGER NOT NULL,
    created BIGINT NOT NULL,
    due BIGINT NOT NULL,
    expires BIGINT NOT NULL,
    retry BIGINT NOT NULL,
    attempts BIGINT NOT NULL,
    aside INTEGER NOT NULL,
    kept BIGINT NOT NULL, -- bytes and texts, until they are let go
    size BIGINT NOT NULL,
    facts TEXT NOT NULL,
    envelope BLOB NOT NULL,
    claims BLOB NOT NULL,
    replies BLOB, -- of the last attempt, NULL when no recipient was asked
    -- When the schedule must look at the item again. The only home of that rule.
    timer BIGINT GENERATED ALWAYS AS (CASE
        WHEN aside = 1 THEN NULL
        WHEN state = 'delayed' THEN CASE WHEN retry > due THEN retry ELSE due END
        WHEN state = 'approved' THEN retry
        WHEN state IN ('draft', 'held') AND expires > 0 THEN expires
        ELSE NULL END) STORED
);
CREATE INDEX item_message ON item (account, message_id);
-- Every answer counts what is automatic in its conversation.
CREATE INDEX item_conversation ON item (account, conversation, automatic, state, created)
    WHERE conversation <> 0;
-- Pages of the past, and, with nothing of the item itself read, the numbers of some weeks.
CREATE INDEX item_created ON item (account, created, seq, tier, id);
CREATE INDEX item_failed ON item (account) WHERE state = 'failed';
CREATE INDEX item_waiting_state ON item (state) WHERE waiting = 1;
CREATE INDEX item_waiting_key ON item (account, submission_key) WHERE waiting = 1;
CREATE INDEX item_waiting_message ON item (account, message_id) WHERE waiting = 1;
CREATE INDEX item_waiting_conversation ON item (account, conversation) WHERE waiting = 1;
CREATE INDEX item_timer ON item (timer) WHERE timer IS NOT NULL;
-- What the message says, apart: an item's moves need not write it again.
CREATE TABLE item_extract (
    seq INTEGER PRIMARY KEY REFERENCES item (seq),
    bytes BLOB NOT NULL
);
CREATE TABLE recipient (
    item TEXT NOT NULL REFERENCES item (id),
    address TEXT NOT NULL,
    number INTEGER NOT NULL,
    external INTEGER NOT NULL,
    known INTEGER NOT NULL,
    mentioned INTEGER NOT NULL,
    outside INTEGER NOT NULL,
    PRIMARY KEY (item, address)
) WITHOUT ROWID;
CREATE TABLE piece (
    item TEXT NOT NULL REFERENCES item (id),
    number INTEGER NOT NULL,
    sha256 TEXT NOT NULL,
    bytes BLOB NOT NULL,
    PRIMARY KEY (item, number)
);
CREATE TABLE move (
    item TEXT NOT NULL REFERENCES item (id),
    number INTEGER NOT NULL,
    at BIGINT NOT NULL,
    from_state TEXT NOT NULL,
    to_state TEXT NOT NULL,
    who TEXT NOT NULL,
    why TEXT NOT NULL,
    PRIMARY KEY (item, number)
) WITHOUT ROWID;
-- How many items left, or will leave, without a person, by the time at which they were
-- submitted: every submission asks. name, width: sent.c.
CREATE TABLE sent (
    account TEXT NOT NULL,
    name TEXT NOT NULL,
    width BIGINT NOT NULL,
    start BIGINT NOT NULL,
    items BIGINT NOT NULL,
    PRIMARY KEY (account, name, width, start)
) WITHOUT ROWID;

-- Items whose bytes or texts may be let go. finished: when the item stopped waiting.
CREATE TABLE kept (
    account TEXT NOT NULL,
    finished BIGINT NOT NULL,
    item TEXT NOT NULL REFERENCES item (id),
    PRIMARY KEY (account, finished, item)
) WITHOUT ROWID;
-- The sum of all that is kept: asked for every submission.
CREATE TABLE kept_sum (
    account TEXT NOT NULL PRIMARY KEY,
    bytes BIGINT NOT NULL
) WITHOUT ROWID;

-- Submissions whose clients were told to come again. lasting: the message had an id of its own.
-- told: when the client first heard the end, NULL before.
CREATE TABLE owed (
    account TEXT NOT NULL,
    submission_key TEXT NOT NULL,
    item TEXT NOT NULL UNIQUE REFERENCES item (id),
    lasting INTEGER NOT NULL,
    told BIGINT,
    PRIMARY KEY (account, submission_key)
) WITHOUT ROWID;
CREATE INDEX owed_told ON owed (told) WHERE lasting = 0;

-- Drafts in people's mailboxes (draft.h). put: since when it is known to be there, 0 never.
CREATE TABLE draft (
    item TEXT NOT NULL PRIMARY KEY REFERENCES item (id),
    account TEXT NOT NULL,
    place TEXT NOT NULL,
    validity BIGINT NOT NULL,
    uid BIGINT NOT NULL,
    put BIGINT NOT NULL
);
CREATE INDEX draft_account ON draft (account);

-- What was handed on by items that this copy of the database does not have.
CREATE TABLE lost (
    digest TEXT NOT NULL PRIMARY KEY,
    item TEXT NOT NULL
);

-- What agents and approvers are still to be told.
CREATE TABLE notice (
    account TEXT NOT NULL,
    audience TEXT NOT NULL CHECK (audience IN ('agent', 'approver')),
    number BIGINT NOT NULL,
    item TEXT NOT NULL REFERENCES item (id),
    state TEXT NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (account, audience, number)
) WITHOUT ROWID;
-- When the people of an account were last told something of a kind.
CREATE TABLE told (
    account TEXT NOT NULL,
    kind TEXT NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (account, kind)
) WITHOUT ROWID;

-- Messages of a login, and the bytes of their records. hour: since 1970.
CREATE TABLE pace (
    login TEXT NOT NULL,
    hour BIGINT NOT NULL,
    messages BIGINT NOT NULL,
    bytes BIGINT NOT NULL,
    PRIMARY KEY (login, hour)
) WITHOUT ROWID;

-- How many items of an account are in a state: asked for every submission, so never counted.
CREATE TABLE tally (
    account TEXT NOT NULL,
    state TEXT NOT NULL,
    items BIGINT NOT NULL,
    PRIMARY KEY (account, state)
) WITHOUT ROWID;

-- Conversations handed back to the human. name: the id of a message, or the number of a
-- conversation; what has one number is locked and unlocked together.
CREATE TABLE lock (
    account TEXT NOT NULL,
    name TEXT NOT NULL,
    number BIGINT NOT NULL,
    PRIMARY KEY (account, name)
);
CREATE INDEX lock_number ON lock (account, number);

-- How often a user's password was wrong since it was right, and how long none is looked at.
CREATE TABLE password_try (
    uid BIGINT NOT NULL PRIMARY KEY,
    wrong BIGINT NOT NULL,
    until BIGINT NOT NULL
);

-- What was switched off. account: '' for everything.
CREATE TABLE halt (
    account TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('stopped', 'suspended', 'revoked')),
    why TEXT NOT NULL,
    who TEXT NOT NULL,
    since BIGINT NOT NULL,
    PRIMARY KEY (account, kind)
);

-- Authority that is used once. used and voided: when, NULL while neither happened.
CREATE TABLE approval (
    id TEXT NOT NULL PRIMARY KEY,
    item TEXT NOT NULL REFERENCES item (id),
    account TEXT NOT NULL,
    digest TEXT NOT NULL,
    approver TEXT NOT NULL,
    uid BIGINT NOT NULL,
    gid BIGINT NOT NULL,
    policy TEXT NOT NULL,
    created BIGINT NOT NULL,
    expires BIGINT NOT NULL,
    used BIGINT,
    voided BIGINT,
    seal TEXT NOT NULL
);
CREATE INDEX approval_item ON approval (item, created) WHERE used IS NULL AND voided IS NULL;
CREATE TABLE ticket (
    id TEXT NOT NULL PRIMARY KEY,
    item TEXT NOT NULL REFERENCES item (id),
    digest TEXT NOT NULL,
    created BIGINT NOT NULL,
    expires BIGINT NOT NULL,
    used BIGINT,
    voided INTEGER NOT NULL
);
CREATE INDEX ticket_item ON ticket (item);

CREATE TABLE audit (
    seq INTEGER PRIMARY KEY,
    at BIGINT NOT NULL,
    kind TEXT NOT NULL,
    account TEXT NOT NULL,
    item TEXT NOT NULL,
    who TEXT NOT NULL,
    details TEXT NOT NULL,
    seal TEXT NOT NULL
);
CREATE INDEX audit_item ON audit (item) WHERE item <> '';
CREATE INDEX audit_history ON audit (account) WHERE kind = 'history';

-- name: schema_2
-- The program that wrote last: one row. Before there was this table, it was another one.
CREATE TABLE program (
    number INTEGER PRIMARY KEY CHECK (number = 1),
    version TEXT NOT NULL
);
INSERT INTO program (number, version) SELECT 1, 'unknown' WHERE EXISTS (SELECT 1 FROM audit);

-- name: schema_3
-- The messages of a conversation, but for those that came in.
CREATE INDEX message_own ON message (account, conversation, kind) WHERE kind <> 'received';
