-- approval.sql - authority that is used once (approval.h)

-- name: approval_add
INSERT INTO approval (id, item, account, digest, approver, created, expires)
    VALUES ($1, $2, $3, $4, $5, $6, $7);

-- name: approval_find
SELECT COUNT(*) FROM approval
    WHERE item = $1 AND digest = $2 AND used IS NULL AND voided IS NULL
        AND created <= $3 AND expires > $3;

-- Uses every approval that stands, so that nothing is left over for a second sending.
-- name: approval_use
UPDATE approval SET used = $4
    WHERE item = $1 AND account = $2 AND digest = $3 AND used IS NULL AND voided IS NULL
        AND created <= $4 AND expires > $4;

-- name: approval_void_all
UPDATE approval SET voided = $2 WHERE item = $1 AND used IS NULL AND voided IS NULL;

-- The clock went back: what was granted later than now stays void when it goes forward (XC11).
-- name: approval_void_future
UPDATE approval SET voided = $2
    WHERE item = $1 AND used IS NULL AND voided IS NULL AND created > $2;

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

-- name: ticket_void_unused
UPDATE ticket SET voided = 1 WHERE item = $1 AND used IS NULL AND voided = 0;

-- name: ticket_count_used
SELECT COUNT(*) FROM ticket WHERE item = $1 AND used IS NOT NULL;
