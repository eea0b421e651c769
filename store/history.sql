-- history.sql - what the human has sent before (history.h)

-- name: message_find
SELECT conversation, kind FROM message WHERE account = $1 AND id = $2;

-- The condition repeats what history.c decided: an id of the human's is never taken over
-- (XB4).
-- name: message_put
INSERT INTO message (account, id, conversation, kind, seen) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (account, id) DO UPDATE
    SET conversation = excluded.conversation, kind = excluded.kind, seen = excluded.seen
    WHERE message.kind <> 'human';

-- name: conversation_is_mine
SELECT mine FROM conversation WHERE account = $1 AND id = $2;

-- name: conversation_make_mine
INSERT INTO conversation (account, id, mine) VALUES ($1, $2, 1)
    ON CONFLICT (account, id) DO UPDATE SET mine = 1;

-- name: participant_add
INSERT INTO participant (account, conversation, address) VALUES ($1, $2, $3)
    ON CONFLICT (account, conversation, address) DO NOTHING;

-- name: participant_find
SELECT 1 FROM participant WHERE account = $1 AND conversation = $2 AND address = $3;

-- Imported mail comes in any order, so first and last are compared, not just set.
-- name: correspondent_write
INSERT INTO correspondent (account, address, times, first_written, last_written, event)
    VALUES ($1, $2, 1, $3, $3, $4)
    ON CONFLICT (account, address) DO UPDATE
    SET times = correspondent.times + 1,
        first_written = CASE WHEN excluded.first_written < correspondent.first_written
            THEN excluded.first_written ELSE correspondent.first_written END,
        last_written = CASE WHEN excluded.last_written > correspondent.last_written
            THEN excluded.last_written ELSE correspondent.last_written END,
        event = excluded.event;

-- A message seen before counts once (XE17); it may still bring recipients of another envelope.
-- name: correspondent_write_again
INSERT INTO correspondent (account, address, times, first_written, last_written, event)
    VALUES ($1, $2, 1, $3, $3, $4)
    ON CONFLICT (account, address) DO NOTHING;

-- name: mention_put
INSERT INTO mention (account, address, event, first_source) VALUES ($1, $2, $3, $4)
    ON CONFLICT (account, address) DO UPDATE SET event = excluded.event;

-- name: list_put
INSERT INTO list (account, address) VALUES ($1, $2) ON CONFLICT (account, address) DO NOTHING;

-- name: address_look_up
SELECT correspondent.times, correspondent.first_written, correspondent.last_written,
       correspondent.event, mention.event, list.address
    FROM (SELECT CAST($1 AS TEXT) AS account, CAST($2 AS TEXT) AS address) AS wanted
    LEFT JOIN correspondent ON correspondent.account = wanted.account
        AND correspondent.address = wanted.address
    LEFT JOIN mention ON mention.account = wanted.account AND mention.address = wanted.address
    LEFT JOIN list ON list.account = wanted.account AND list.address = wanted.address;
