-- warrant.sql - what the history vouches with (warrant.h)

-- name: warrant_newest
SELECT details FROM audit WHERE account = $1 AND kind = 'history' ORDER BY seq DESC LIMIT 1;

-- name: warrant_correspondents
SELECT seal, address, times, first_written, last_written, event, vouched, voucher
    FROM correspondent WHERE account = $1;

-- name: warrant_participants
SELECT seal, address, conversation, message, written FROM participant WHERE account = $1;
