-- lock.sql - conversations that were handed back (lock.h)

-- name: lock_find
SELECT number FROM lock
    WHERE account = $1
        AND name IN ($2, (SELECT CAST(conversation AS TEXT) FROM message
                              WHERE account = $1 AND id = $2))
    ORDER BY number LIMIT 1;

-- name: lock_id
INSERT INTO lock (account, name, number) VALUES ($1, $2, $3)
    ON CONFLICT (account, name) DO NOTHING;

-- name: lock_conversation
INSERT INTO lock (account, name, number)
    SELECT account, CAST(conversation AS TEXT), $3 FROM message WHERE account = $1 AND id = $2
    ON CONFLICT (account, name) DO NOTHING;

-- name: lock_remove
DELETE FROM lock WHERE account = $1 AND number = $2;
