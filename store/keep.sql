-- keep.sql - bytes of messages that are kept (keep.h)

-- name: kept_finish
INSERT INTO kept (account, finished, item)
    SELECT account, $2, id FROM item WHERE id = $1 AND kept > 0;

-- name: kept_sum
SELECT bytes FROM kept_sum WHERE account = $1;

-- name: kept_sum_change
INSERT INTO kept_sum (account, bytes) VALUES ($1, $2)
    ON CONFLICT (account) DO UPDATE SET bytes = kept_sum.bytes + excluded.bytes;

-- name: kept_next
SELECT item, finished FROM kept WHERE account = $1 ORDER BY finished LIMIT 1;

-- name: kept_size
SELECT kept FROM item WHERE id = $1;

-- name: kept_clear
UPDATE item SET kept = 0 WHERE id = $1;

-- name: kept_drop
DELETE FROM kept WHERE account = $1 AND finished = $2 AND item = $3;

-- name: kept_pieces_drop
DELETE FROM piece WHERE item = $1;
