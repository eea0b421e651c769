-- tries.sql - how often a user's password was wrong (tries.h)

-- name: tries_find
SELECT wrong, until FROM password_try WHERE uid = $1;

-- name: tries_put
INSERT INTO password_try (uid, wrong, until) VALUES ($1, $2, $3)
    ON CONFLICT (uid) DO UPDATE SET wrong = excluded.wrong, until = excluded.until;

-- name: tries_remove
DELETE FROM password_try WHERE uid = $1;
