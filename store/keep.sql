-- keep.sql - bytes of messages that are kept (keep.h)

-- name: kept_add
INSERT INTO kept (item, account, size, finished) VALUES ($1, $2, $3, NULL);

-- name: kept_add_finished
INSERT INTO kept (item, account, size, finished) VALUES ($1, $2, $3, $4);

-- name: kept_finish
UPDATE kept SET finished = $2 WHERE item = $1;

-- name: kept_sum
SELECT bytes FROM kept_sum WHERE account = $1;

-- name: kept_sum_change
INSERT INTO kept_sum (account, bytes) VALUES ($1, $2)
    ON CONFLICT (account) DO UPDATE SET bytes = kept_sum.bytes + excluded.bytes;

-- name: kept_next
SELECT item, finished FROM kept WHERE account = $1 AND finished IS NOT NULL
    ORDER BY finished LIMIT 1;

-- name: kept_drop
DELETE FROM kept WHERE item = $1 RETURNING account, size;

-- name: kept_pieces_drop
DELETE FROM piece WHERE item = $1;
