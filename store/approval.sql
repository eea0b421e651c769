-- approval.sql - authority that is used once (approval.h)

-- name: approval_add
INSERT INTO approval (id, item, account, digest, approver, uid, gid, policy, created, expires,
                      seal)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11);

-- name: approval_open
SELECT id, item, account, digest, approver, uid, gid, policy, created, expires, seal
    FROM approval
    WHERE item = $1 AND used IS NULL AND voided IS NULL ORDER BY item, created;

-- name: approval_open_all
SELECT id, item, account, digest, approver, uid, gid, policy, created, expires, seal
    FROM approval
    WHERE used IS NULL AND voided IS NULL ORDER BY item, created;

-- Who, what, until when and unused: all in the statement that uses it up (C13, C14).
-- name: approval_use
UPDATE approval SET used = $5, seal = $6
    WHERE id = $1 AND item = $2 AND account = $3 AND digest = $4
        AND used IS NULL AND voided IS NULL AND created <= $5 AND expires > $5;

-- name: approval_void_one
UPDATE approval SET voided = $2, seal = $3
    WHERE id = $1 AND used IS NULL AND voided IS NULL;

-- name: ticket_add
INSERT INTO ticket (id, item, digest, created, expires, voided) VALUES ($1, $2, $3, $4, $5, 0);

-- name: ticket_find
SELECT item, CASE WHEN used IS NOT NULL THEN 1 ELSE 0 END,
       CASE WHEN voided = 0 AND created <= $3 AND expires > $3 THEN 1 ELSE 0 END
    FROM ticket WHERE id = $1 AND digest = $2;

-- name: ticket_use
UPDATE ticket SET used = $3
    WHERE id = $1 AND digest = $2 AND used IS NULL AND voided = 0
        AND created <= $3 AND expires > $3;

-- name: ticket_change_digest
UPDATE ticket SET digest = $2 WHERE id = $1 AND used IS NULL AND voided = 0;

-- name: ticket_void_unused
UPDATE ticket SET voided = 1 WHERE item = $1 AND used IS NULL AND voided = 0;

-- name: ticket_count_used
SELECT COUNT(*) FROM ticket WHERE item = $1 AND used IS NOT NULL;
