-- halt.sql - what was switched off (halt.h)

-- name: halt_add
INSERT INTO halt (account, kind, why, who, since) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (account, kind) DO NOTHING;

-- name: halt_remove
DELETE FROM halt WHERE account = $1 AND kind = $2;

-- name: halt_load
SELECT account, kind, why, who, since FROM halt ORDER BY account, kind;

-- name: halt_load_account
SELECT account, kind, why, who, since FROM halt WHERE account = $1 ORDER BY kind;
