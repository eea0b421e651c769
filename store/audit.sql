-- audit.sql - one entry for everything (audit.h)

-- One writer, inside the transaction of what it records: the next number leaves no gap.
-- name: audit_add
INSERT INTO audit (seq, at, kind, account, item, who, details)
    VALUES ((SELECT COALESCE(MAX(seq), 0) + 1 FROM audit), $1, $2, $3, $4, $5, $6);
