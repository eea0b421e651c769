-- upgrade.sql - the program that wrote last (upgrade.h)

-- name: upgrade_read
SELECT version FROM program;

-- name: upgrade_write
INSERT INTO program (number, version) VALUES (1, $1)
    ON CONFLICT (number) DO UPDATE SET version = excluded.version;
