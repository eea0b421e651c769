-- audit.sql - one entry for everything (audit.h)

-- name: audit_add
INSERT INTO audit (seq, at, kind, account, item, who, details, seal)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8);

-- name: audit_newest
SELECT seq, seal, at FROM audit ORDER BY seq DESC LIMIT 1;

-- name: audit_seal_at
SELECT seal FROM audit WHERE seq = $1;

-- name: audit_page
SELECT seq, at, kind, account, item, who, details, seal FROM audit
    WHERE seq > $1 ORDER BY seq LIMIT $2;

-- name: audit_of_item
SELECT seq, at, kind, account, item, who, details, seal FROM audit
    WHERE item = $1 AND item <> '' ORDER BY seq LIMIT $2;
