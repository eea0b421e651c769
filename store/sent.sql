-- sent.sql - how many items left without a person (sent.h)

-- name: sent_raise
INSERT INTO sent (account, name, width, start, items) VALUES ($1, $2, $3, $4, 1)
    ON CONFLICT (account, name, width, start) DO UPDATE SET items = sent.items + 1;

-- The same in the second $3, and in the span of width $4 that begins at $5.
-- name: sent_raise_both
INSERT INTO sent (account, name, width, start, items)
    VALUES ($1, $2, 1, $3, 1), ($1, $2, $4, $5, 1)
    ON CONFLICT (account, name, width, start) DO UPDATE SET items = sent.items + 1;

-- name: sent_drop
DELETE FROM sent
    WHERE account = $1 AND name = $2 AND width = $3 AND start = $4 AND items = 1;

-- name: sent_lower
UPDATE sent SET items = items - 1
    WHERE account = $1 AND name = $2 AND width = $3 AND start = $4;

-- Whole spans of width $3 from $5 on, and the seconds from $4 to there.
-- name: sent_sum
SELECT COALESCE((SELECT SUM(items) FROM sent
                 WHERE account = $1 AND name = $2 AND width = $3 AND start >= $5), 0) +
       COALESCE((SELECT SUM(items) FROM sent
                 WHERE account = $1 AND name = $2 AND width = 1 AND start >= $4
                     AND start < $5), 0);

-- name: sent_last
SELECT start FROM sent WHERE account = $1 AND name = $2 AND width = 1
    ORDER BY start DESC LIMIT 1;
