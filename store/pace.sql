-- pace.sql - how many messages each login has brought lately (pace.h)

-- name: pace_since
SELECT COALESCE(SUM(messages), 0), COALESCE(SUM(bytes), 0) FROM pace WHERE login = $1 AND hour >= $2;

-- name: pace_raise
INSERT INTO pace (login, hour, messages, bytes) VALUES ($1, $2, 1, $3)
    ON CONFLICT (login, hour) DO UPDATE
    SET messages = pace.messages + 1, bytes = pace.bytes + excluded.bytes;

-- name: pace_forget
DELETE FROM pace WHERE login = $1 AND hour < $2;
