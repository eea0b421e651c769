-- stats.sql - what became of an account's items over some weeks (stats.h)

-- The weeks are counted from $2.
-- name: stats_tiers
SELECT (item.created - $2) / 604800, tier, COUNT(*) FROM item
    WHERE item.account = $1 AND item.created >= $2 AND item.created < $3
    GROUP BY 1, 2;

-- name: stats_recipients
SELECT (item.created - $2) / 604800, COUNT(*), SUM(1 - recipient.known)
    FROM item JOIN recipient ON recipient.item = item.id
    WHERE item.account = $1 AND item.created >= $2 AND item.created < $3
    GROUP BY 1;

-- name: stats_waits
SELECT item.tier, move.at - item.created FROM item JOIN move ON move.item = item.id
    WHERE item.account = $1 AND item.created >= $2 AND item.created < $3
        AND move.to_state IN ('sent', 'rejected')
    ORDER BY 1, 2;

-- name: stats_decisions
SELECT move.who, (move.at - $2) / 604800, COUNT(*)
    FROM item JOIN move ON move.item = item.id
    WHERE item.account = $1 AND item.created >= $2 AND item.created < $3
        AND move.from_state IN ('held', 'draft') AND move.to_state IN ('approved', 'rejected')
    GROUP BY 1, 2 ORDER BY 1, 2;

-- Each approval beside the first time that the item was shown to whom it is from.
-- name: stats_approvals
SELECT move.at, shown.at, shown.details
    FROM item JOIN move ON move.item = item.id
        LEFT JOIN audit AS shown ON shown.seq =
            (SELECT MIN(audit.seq) FROM audit
                 WHERE audit.item = item.id AND audit.item <> '' AND audit.kind = 'shown'
                     AND audit.who = move.who)
    WHERE item.account = $1 AND item.created >= $2 AND item.created < $3
        AND move.from_state IN ('held', 'draft') AND move.to_state = 'approved';

-- name: stats_fired
SELECT file, line, reason, COUNT(*) FROM item
    WHERE item.account = $1 AND item.created >= $2 AND item.created < $3 AND policy = $4 AND line > 0
    GROUP BY 1, 2, 3 ORDER BY 1, 2, 3;

-- name: stats_held
SELECT COUNT(*) FROM item
    WHERE item.account = $1 AND item.created >= $2 AND item.created < $3 AND tier = 'hold';
