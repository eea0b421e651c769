-- owed.sql - submissions whose clients were told to come again (owed.h)

-- name: owed_insert
INSERT INTO owed (account, submission_key, item, lasting, told) VALUES ($1, $2, $3, $4, NULL)
    ON CONFLICT (account, submission_key)
    DO UPDATE SET item = excluded.item, lasting = excluded.lasting, told = NULL;

-- name: owed_look_up
SELECT item FROM owed WHERE account = $1 AND submission_key = $2
    AND (lasting = 1 OR told IS NULL OR told >= $3);

-- name: owed_note
UPDATE owed SET told = $2 WHERE item = $1 AND told IS NULL;

-- name: owed_drop
DELETE FROM owed WHERE lasting = 0 AND told < $1;
