/* chain.h - the audit record as a chain: each entry is sealed with the one before
 *
 * Seal of an entry: seal.h over the fields (fields.h) "exeat-audit-1", the seal of the entry
 * before ("" for the first), seq, at (numbers), kind, account, item, who, details. Seq counts
 * from 1. So a changed, removed, added or exchanged entry shows (XE2-XE5); that the newest
 * ones are missing shows only beside a head that is known from elsewhere (XE6, XE11). */
#pragma once

#include "lib/seal.h"

typedef struct {
    gint64 seq;
    gint64 at;
    const char *kind;
    const char *account; /* "" when none */
    const char *item;    /* "" when none */
    const char *who;
    const char *details;
} ChainEntry;

/* Kind of an entry that says: before me, some are missing that were written. */
#define CHAIN_LOSS "restored"

/* How far the chain goes; zeroed: it has no entry. */
typedef struct {
    gint64 seq;
    char seal[SEAL_LENGTH + 1];
} ChainHead;

/* The seal of an entry that comes after head. The caller frees. */
char *chain_seal(const Seal *seal, const ChainHead *head, const ChainEntry *entry);

/* Checks that the entry with this seal comes next, and moves head to it in any case, so that
 * one fault is told once. NULL when it does, else what is wrong; the caller frees. */
char *chain_follow(const Seal *seal, ChainHead *head, const ChainEntry *entry,
                   const char *claimed);
