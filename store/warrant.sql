-- warrant.sql - what the history vouches with (warrant.h)

-- name: warrant_newest
SELECT details FROM audit WHERE account = $1 AND kind = 'history' ORDER BY seq DESC LIMIT 1;

-- name: warrant_correspondents
SELECT seal, address, times, first_written, last_written, event, vouched, voucher
    FROM correspondent WHERE account = $1;

-- name: warrant_participants
SELECT seal, address, conversation, message, written FROM participant WHERE account = $1;

-- Both take the conversation, so that they are called alike; a correspondent's is 0.
-- name: warrant_drop_correspondent
DELETE FROM correspondent WHERE account = $1 AND address = $2 AND $3 = 0;

-- name: warrant_drop_participant
DELETE FROM participant WHERE account = $1 AND address = $2 AND conversation = $3;
