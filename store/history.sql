-- history.sql - what the human has sent before (history.h)

-- name: message_find
SELECT conversation, kind, automatic FROM message WHERE account = $1 AND id = $2;

-- name: message_of_human
SELECT 1 FROM message WHERE account = $1 AND id = $2 AND kind = 'human' AND seen >= $3;

-- The condition repeats what history.c decided: an id of the human's is never taken over
-- (XB4).
-- name: message_put
INSERT INTO message (account, id, conversation, kind, seen, needed, automatic)
    VALUES ($1, $2, $3, $4, $5, 0, $6)
    ON CONFLICT (account, id) DO UPDATE
    SET conversation = excluded.conversation, kind = excluded.kind, seen = excluded.seen,
        automatic = excluded.automatic
    WHERE message.kind <> 'human';

-- name: message_mark_automatic
UPDATE message SET automatic = 1 WHERE account = $1 AND id = $2;

-- An id that the human names before its message is seen.
-- name: message_name
INSERT INTO message (account, id, conversation, kind, seen, needed, automatic)
    VALUES ($1, $2, $3, 'named', $4, 0, 0)
    ON CONFLICT (account, id) DO NOTHING;

-- name: conversation_is_mine
SELECT address, seal, message, written FROM participant
    WHERE account = $1 AND conversation = $2;

-- name: participant_add
INSERT INTO participant (account, conversation, address, message, written, seal)
    VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT (account, conversation, address) DO NOTHING;

-- name: participant_write
UPDATE participant SET message = $4, written = $5, seal = $6
    WHERE account = $1 AND conversation = $2 AND address = $3;

-- name: participant_find
SELECT seal, message, written FROM participant
    WHERE account = $1 AND conversation = $2 AND address = $3;

-- name: participant_letters
SELECT conversation, message, written FROM participant
    WHERE account = $1 AND address = $2 ORDER BY written DESC, conversation DESC LIMIT $3;

-- name: correspondent_exists
SELECT 1 FROM correspondent WHERE account = $1 AND address = $2;

-- name: correspondent_find
SELECT seal, times, first_written, last_written, event, vouched, voucher
    FROM correspondent WHERE account = $1 AND address = $2;

-- name: correspondent_add
INSERT INTO correspondent (account, address, times, first_written, last_written, event,
                           vouched, voucher, seal, skeleton)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10);

-- name: correspondent_write
UPDATE correspondent
    SET times = $3, first_written = $4, last_written = $5, event = $6, vouched = $7,
        voucher = $8, seal = $9
    WHERE account = $1 AND address = $2;

-- name: correspondent_remove
DELETE FROM correspondent WHERE account = $1 AND address = $2;

-- name: correspondent_like
SELECT address FROM correspondent WHERE account = $1 AND skeleton = $2 AND address <> $3
    ORDER BY address LIMIT 1;

-- How many correspondents a domain has.
-- name: domain_count
INSERT INTO domain (account, name, correspondents) VALUES ($1, $2, $3)
    ON CONFLICT (account, name) DO UPDATE
    SET correspondents = domain.correspondents + excluded.correspondents;

-- name: domain_find
SELECT correspondents FROM domain WHERE account = $1 AND name = $2;

-- name: domain_remove
DELETE FROM domain WHERE account = $1 AND name = $2;

-- name: domain_key_add
INSERT INTO domain_key (account, word, name) VALUES ($1, $2, $3)
    ON CONFLICT (account, word, name) DO NOTHING;

-- name: domain_key_remove
DELETE FROM domain_key WHERE account = $1 AND word = $2 AND name = $3;

-- name: domain_key_find
SELECT name FROM domain_key WHERE account = $1 AND word = $2 ORDER BY name LIMIT $3;

-- name: mention_put
INSERT INTO mention (account, address, event, first_message, first_sender, first_seen,
                     last_message, last_sender, last_seen, aimed)
    VALUES ($1, $2, $3, $4, $5, $6, $4, $5, $6, $7)
    ON CONFLICT (account, address) DO UPDATE
    SET event = excluded.event, last_message = excluded.last_message,
        last_sender = excluded.last_sender, last_seen = excluded.last_seen,
        aimed = excluded.aimed
    WHERE excluded.last_seen >= mention.last_seen;

-- For a text older than those known.
-- name: mention_put_first
UPDATE mention SET first_message = $3, first_sender = $4, first_seen = $5
    WHERE account = $1 AND address = $2 AND first_seen > $5;

-- name: mention_tell
SELECT first_message, first_sender, first_seen, last_message, last_sender, last_seen
    FROM mention WHERE account = $1 AND address = $2;

-- name: mention_remove
DELETE FROM mention WHERE account = $1 AND address = $2;

-- name: list_put
INSERT INTO list (account, address, seen) VALUES ($1, $2, $3)
    ON CONFLICT (account, address) DO UPDATE SET seen = excluded.seen
    WHERE excluded.seen > list.seen;

-- name: address_look_up
SELECT correspondent.times, correspondent.first_written, correspondent.last_written,
       correspondent.event, correspondent.vouched, mention.event, mention.last_seen,
       list.address, correspondent.seal, correspondent.voucher,
       participant.seal, participant.message, participant.written
    FROM (SELECT CAST($1 AS TEXT) AS account, CAST($2 AS TEXT) AS address,
                 CAST($3 AS BIGINT) AS conversation) AS wanted
    LEFT JOIN correspondent ON correspondent.account = wanted.account
        AND correspondent.address = wanted.address
    LEFT JOIN mention ON mention.account = wanted.account AND mention.address = wanted.address
    LEFT JOIN list ON list.account = wanted.account AND list.address = wanted.address
    LEFT JOIN participant ON participant.account = wanted.account
        AND participant.conversation = wanted.conversation
        AND participant.address = wanted.address;

-- name: correspondent_tell
SELECT voucher FROM correspondent WHERE account = $1 AND address = $2;

-- How many there are above $2, at most $3. What names a correspondent counts as none: there are
-- no more of them than the human wrote to, and nobody floods it away.
-- name: mention_excess
SELECT COUNT(*) FROM
    (SELECT 1 FROM mention WHERE account = $1 AND aimed = 0 LIMIT $3 OFFSET $2) AS excess;

-- name: mention_loudest
SELECT last_sender, COUNT(*) FROM mention WHERE account = $1 AND aimed = 0
    GROUP BY last_sender ORDER BY 2 DESC, 1 LIMIT 1;

-- name: mention_drop
DELETE FROM mention WHERE account = $1 AND address IN
    (SELECT oldest.address FROM mention AS oldest
        WHERE oldest.account = $1 AND oldest.last_seen < $2
        ORDER BY oldest.last_seen LIMIT $3);

-- name: mention_drop_of
DELETE FROM mention WHERE account = $1 AND address IN
    (SELECT oldest.address FROM mention AS oldest
        WHERE oldest.account = $1 AND oldest.last_sender = $2 AND oldest.aimed = 0
        ORDER BY oldest.last_seen LIMIT $3);

-- name: received_excess
SELECT COUNT(*) FROM
    (SELECT 1 FROM message WHERE account = $1 AND kind = 'received' AND needed = $2
        ORDER BY seen LIMIT $4 OFFSET $3) AS excess;

-- name: received_set_apart
UPDATE message SET needed = 1 WHERE account = $1 AND id IN
    (SELECT oldest.id FROM message AS oldest
        WHERE oldest.account = $1 AND oldest.kind = 'received' AND oldest.needed = 0
            AND oldest.seen < $2
        ORDER BY oldest.seen LIMIT $3)
    AND EXISTS (SELECT 1 FROM participant WHERE participant.account = message.account
        AND participant.conversation = message.conversation);

-- name: received_drop
DELETE FROM message WHERE account = $1 AND id IN
    (SELECT oldest.id FROM message AS oldest
        WHERE oldest.account = $1 AND oldest.kind = 'received' AND oldest.needed = 0
            AND oldest.seen < $2
        ORDER BY oldest.seen LIMIT $3)
    AND NOT EXISTS (SELECT 1 FROM participant WHERE participant.account = message.account
        AND participant.conversation = message.conversation);

-- name: needed_drop
DELETE FROM message WHERE account = $1 AND id IN
    (SELECT oldest.id FROM message AS oldest
        WHERE oldest.account = $1 AND oldest.kind = 'received' AND oldest.needed = 1
        ORDER BY oldest.seen LIMIT $2);

-- name: list_excess
SELECT COUNT(*) FROM
    (SELECT 1 FROM list WHERE account = $1 ORDER BY seen LIMIT $3 OFFSET $2) AS excess;

-- name: list_drop
DELETE FROM list WHERE account = $1 AND address IN
    (SELECT oldest.address FROM list AS oldest WHERE oldest.account = $1
        ORDER BY oldest.seen LIMIT $2);
