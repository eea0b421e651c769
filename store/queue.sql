-- queue.sql - items (queue.h)

-- name: item_add
INSERT INTO item (id, seq, account, login, submission_key, digest, message_id, conversation,
                  state, waiting, tier, line, reason, policy, why, answer, automatic, created,
                  due, expires, retry, attempts, size, facts, envelope, claims, approvals,
                  author, file, kept, aside)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18,
            $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, 0);

-- Items are never removed, so no number comes twice.
-- name: item_next
SELECT COALESCE(MAX(seq), 0) + 1 FROM item;

-- name: extract_add
INSERT INTO item_extract (seq, bytes) VALUES ($1, $2);

-- name: extract_set
UPDATE item_extract SET bytes = $2 WHERE seq = (SELECT seq FROM item WHERE id = $1);

-- name: item_load
SELECT id, account, login, submission_key, digest, message_id, conversation, state, tier, line,
       reason, policy, why, answer, automatic, created, due, expires, retry, attempts, size,
       facts, envelope, bytes, claims, approvals, author, file, replies
    FROM item LEFT JOIN item_extract ON item_extract.seq = item.seq WHERE id = $1;

-- name: recipient_add
INSERT INTO recipient (item, number, address, external, known, mentioned, outside)
    VALUES ($1, $2, $3, $4, $5, $6, $7);

-- name: recipient_load
SELECT address, external, known, mentioned, outside FROM recipient WHERE item = $1
    ORDER BY number;

-- name: piece_add
INSERT INTO piece (item, number, sha256, bytes) VALUES ($1, $2, $3, $4);

-- name: piece_load
SELECT number, sha256, bytes FROM piece WHERE item = $1 ORDER BY number;

-- name: item_size
SELECT size FROM item WHERE id = $1;

-- name: item_standing
SELECT account, created, automatic FROM item WHERE id = $1 AND state = $2;

-- Compare and swap: no row changes when the item is not in that state any more.
-- name: item_move
UPDATE item SET state = $3, waiting = $4, why = $5, automatic = $6
    WHERE id = $1 AND state = $2;

-- name: item_set_aside
UPDATE item SET aside = 1 WHERE id = $1;

-- name: move_add
INSERT INTO move (item, number, at, from_state, to_state, who, why)
    VALUES ($1, (SELECT COALESCE(MAX(number), 0) + 1 FROM move WHERE item = $1),
            $2, $3, $4, $5, $6);

-- name: move_load
SELECT at, from_state, to_state, who, why FROM move WHERE item = $1 ORDER BY number;

-- name: item_attempt
UPDATE item SET answer = $2, retry = $3, attempts = attempts + 1 WHERE id = $1;

-- name: item_set_replies
UPDATE item SET replies = $2 WHERE id = $1;

-- name: tally_change
INSERT INTO tally (account, state, items) VALUES ($1, $2, $3)
    ON CONFLICT (account, state) DO UPDATE SET items = tally.items + excluded.items;

-- name: tally_load
SELECT state, items FROM tally WHERE account = $1;

-- name: find_key
SELECT id FROM item WHERE account = $1 AND submission_key = $2 AND waiting = 1
    ORDER BY seq LIMIT 1;

-- name: find_message
SELECT id FROM item WHERE account = $1 AND message_id = $2 AND waiting = 1
    ORDER BY seq LIMIT 1;

-- name: list_message
SELECT id FROM item WHERE account = $1 AND message_id = $2 ORDER BY seq DESC LIMIT $3;

-- name: find_latest
SELECT id FROM item WHERE account = $1 AND message_id = $2 ORDER BY seq DESC LIMIT 1;

-- The message that began a conversation was in none when it was judged: its id tells. An id that
-- came in first is another message's; what left under one has the number itself. What waits
-- comes first.
-- name: list_conversation
SELECT id, 1 - waiting, 0, -seq FROM item
    WHERE account = $1 AND conversation = $2 AND conversation <> 0
UNION
SELECT id, 1 - waiting, 0, -seq FROM item
    WHERE account = $1
        AND message_id IN (SELECT message.id FROM message
                           WHERE message.account = $1 AND message.conversation = $2
                               AND message.kind <> 'received');

-- name: item_join
UPDATE item SET conversation = $2 WHERE id = $1 AND conversation = 0;

-- Two statements, each for its index; what is delayed is a part of what waits. The order of the
-- second keeps SQLite from walking what is delayed in other accounts.
-- name: delayed_in_conversation
SELECT id FROM item
    WHERE account = $1 AND conversation = $2 AND waiting = 1 AND state = 'delayed'
    ORDER BY seq;

-- name: delayed_to_address
SELECT id FROM item
    WHERE account = $1 AND waiting = 1 AND state = 'delayed'
        AND EXISTS (SELECT 1 FROM recipient WHERE recipient.item = item.id
                                            AND recipient.address = $2)
    ORDER BY conversation, seq;

-- What a halt keeps from leaving stays as it is.
-- name: delayed_after
SELECT id FROM item
    WHERE state = 'delayed' AND waiting = 1
        AND seq > COALESCE((SELECT last.seq FROM item AS last
                                                WHERE last.id = $1), 0)
        AND NOT EXISTS (SELECT 1 FROM halt WHERE halt.account IN ('', item.account))
    ORDER BY seq LIMIT $2;

-- name: list_all
SELECT id, 0, 0, seq FROM item ORDER BY seq DESC LIMIT $1;

-- name: list_account
SELECT id, 0, 0, seq FROM item WHERE account = $1 ORDER BY created DESC, seq DESC LIMIT $2;

-- What a person should look at, and how urgent it is: what waits for them; what leaves, and
-- when; what is parked; what nobody knows the end of; what failed since $2.
-- name: list_agenda
SELECT id, CASE state WHEN 'held' THEN 0 WHEN 'draft' THEN 2 WHEN 'uncertain' THEN 3
                      ELSE 1 END AS urgency,
       CASE state WHEN 'delayed' THEN due ELSE 0 END AS leaves, seq
    FROM item WHERE account = $1 AND waiting = 1
UNION ALL
SELECT id, 4, 0, seq
    FROM item WHERE account = $1 AND state = 'failed'
        AND EXISTS (SELECT 1 FROM move WHERE move.item = item.id AND move.to_state = 'failed'
                                         AND move.at >= $2);

-- In order of creation, after an item or, when there is none of that id, from the beginning.
-- name: list_since
SELECT id FROM item
    WHERE account = $1 AND created >= $2
        AND (created, seq) > (COALESCE((SELECT created FROM item WHERE id = $3), 0),
                              COALESCE((SELECT seq FROM item WHERE id = $3), 0))
    ORDER BY created, seq LIMIT $4;

-- name: list_state
SELECT id FROM item WHERE state = $1 AND waiting = 1 ORDER BY seq;

-- What a halt keeps from leaving is not due; waiting for a person goes on, and ends.
-- name: list_due
SELECT id, account FROM item
    WHERE timer <= $1
        AND (state IN ('draft', 'held')
             OR NOT EXISTS (SELECT 1 FROM halt WHERE halt.account IN ('', item.account)))
    ORDER BY timer, seq;

-- name: next_due
SELECT timer FROM item WHERE timer IS NOT NULL ORDER BY timer LIMIT 1;

-- The states are those in which an automatic item left or still will: queue.c, leaves.
-- name: automatic_in_conversation
SELECT COUNT(*) FROM item
    WHERE account = $1 AND created >= $2 AND automatic = 1
        AND seq <> COALESCE((SELECT own.seq FROM item AS own WHERE own.id = $3), 0)
        AND conversation = $4 AND conversation <> 0
        AND state IN ('released', 'delayed', 'sending', 'committing', 'uncertain', 'sent');

-- Whether the item is one of those that are counted.
-- name: automatic_itself
SELECT COUNT(*) FROM item
    WHERE id = $1 AND account = $2 AND created >= $3 AND automatic = 1
        AND state IN ('released', 'delayed', 'sending', 'committing', 'uncertain', 'sent')
        AND ($4 = '' OR EXISTS (SELECT 1 FROM recipient WHERE recipient.item = item.id
                                                            AND recipient.address = $4));

-- Earlier than $3, or than an item yet to be stored.
-- name: pending_find
SELECT 1 FROM item
    WHERE account = $1 AND conversation = $2 AND waiting = 1
        AND seq < COALESCE((SELECT earlier.seq FROM item AS earlier WHERE earlier.id = $3),
                           9223372036854775807)
    LIMIT 1;
