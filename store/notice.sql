-- notice.sql - what is to be told, and what was (notice.h)

-- name: notice_add
INSERT INTO notice (number, account, audience, item, state, at)
    VALUES ($1, $2, $3, $4, $5, $6);

-- name: notice_load
SELECT number, item, state, at FROM notice
    WHERE account = $1 AND audience = $2 ORDER BY number LIMIT $3;

-- name: notice_accounts_of
SELECT DISTINCT account FROM notice WHERE audience = $1;

-- name: notice_drop_one
DELETE FROM notice WHERE account = $1 AND audience = $2 AND number = $3;

-- name: notice_drop_some
DELETE FROM notice WHERE account = $1 AND audience = $2 AND number <= $3;

-- name: notice_drop_before
DELETE FROM notice WHERE account = $1 AND audience = $2 AND at < $3;

-- name: told_find
SELECT at FROM told WHERE account = $1 AND kind = $2;

-- name: told_write
INSERT INTO told (account, kind, at) VALUES ($1, $2, $3)
    ON CONFLICT (account, kind) DO UPDATE SET at = excluded.at;

-- What left from $2 on and before $3. An item that was created before $4 had expired by $2 and
-- can not have left since.
-- name: left_automatically
SELECT 0, id, state, created AS gone FROM item
    WHERE account = $1 AND automatic = 1 AND state = 'released' AND tier = 'release'
        AND created >= $2 AND created < $3
UNION ALL
SELECT 0, item.id, item.state, move.at AS gone FROM item JOIN move ON move.item = item.id
    WHERE item.account = $1 AND item.automatic = 1 AND item.state = 'sent'
        AND item.tier = 'delay' AND item.created >= $4 AND move.to_state = 'sent' AND move.at >= $2 AND move.at < $3
ORDER BY gone, id LIMIT $5;
