-- draft.sql - where the drafts of items are (draft.h)

-- What waits, with or without a draft, and what has one and waits no more.
-- name: draft_load
SELECT item.id, item.state, item.message_id, item.created, item.due, draft.place,
       draft.validity, draft.uid, draft.put
    FROM item LEFT JOIN draft ON draft.item = item.id
    WHERE item.account = $1 AND item.waiting = 1
UNION ALL
SELECT item.id, item.state, item.message_id, item.created, item.due, draft.place,
       draft.validity, draft.uid, draft.put
    FROM draft JOIN item ON item.id = draft.item
    WHERE draft.account = $1 AND item.waiting = 0;

-- name: draft_of
SELECT item.id, item.state, item.message_id, item.created, item.due, draft.place,
       draft.validity, draft.uid, draft.put
    FROM draft JOIN item ON item.id = draft.item WHERE draft.item = $1;

-- name: draft_write
INSERT INTO draft (item, account, place, validity, uid, put)
    VALUES ($1, (SELECT account FROM item WHERE id = $1), $2, $3, $4, $5)
    ON CONFLICT (item) DO UPDATE
    SET place = excluded.place, validity = excluded.validity, uid = excluded.uid,
        put = excluded.put;

-- name: draft_remove
DELETE FROM draft WHERE item = $1;
