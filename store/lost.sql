-- lost.sql - what was handed on by items that are not here (lost.h)

-- name: lost_insert
INSERT INTO lost (digest, item) VALUES ($1, $2) ON CONFLICT (digest) DO NOTHING;

-- name: lost_look_up
SELECT item FROM lost WHERE digest = $1;
