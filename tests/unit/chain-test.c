/* The chain of the audit record: whatever is done to it without the key shows (XE2-XE6). */
#include "lib/chain.h"

#include <string.h>

#define ENTRIES 5

static const guint8 KEY[SEAL_KEY_BYTES] = "the relay's key";
static const guint8 OTHER[SEAL_KEY_BYTES] = "somebody else's key";

/* An entry as it is stored. */
typedef struct {
    gint64 seq, at;
    char kind[16], account[16], item[16], who[32], details[64];
    char seal[SEAL_LENGTH + 1];
} Record;

static ChainEntry
entry_of(const Record *record)
{
    return (ChainEntry){record->seq,  record->at,  record->kind,   record->account,
                        record->item, record->who, record->details};
}

/* A record made by who has this key, or by plain hashing when key is NULL (XE5). */
static void
make_chain(Record *records, const guint8 *key)
{
    static const guint8 nothing[SEAL_KEY_BYTES] = {0};
    g_autoptr(Seal) seal = seal_new(key != NULL ? key : nothing);
    ChainHead head = {0};

    for (gint64 i = 0; i < ENTRIES; i++) {
        Record *record = &records[i];

        *record =
            (Record){i + 1, 1000 + i, "moved", "owner", "i1", "relay", "{'to': <'sent'>}", ""};
        ChainEntry entry = entry_of(record);
        g_autofree char *made = chain_seal(seal, &head, &entry);
        g_strlcpy(record->seal, made, sizeof record->seal);
        head.seq = record->seq;
        g_strlcpy(head.seal, made, sizeof head.seal);
    }
}

/* The first entry that is complained of, 0 when none is; *head_out is where the chain ends. */
static gint64
first_fault(const Record *records, guint count, ChainHead *head_out)
{
    g_autoptr(Seal) seal = seal_new(KEY);
    ChainHead head = {0};
    gint64 first = 0;

    for (guint i = 0; i < count; i++) {
        ChainEntry entry = entry_of(&records[i]);
        g_autofree char *fault = chain_follow(seal, &head, &entry, records[i].seal);

        if (fault != NULL && first == 0)
            first = entry.seq;
    }
    if (head_out != NULL)
        *head_out = head;
    return first;
}

static void
test_whole(void)
{
    Record records[ENTRIES];
    ChainHead head;

    make_chain(records, KEY);
    g_assert_cmpint(first_fault(records, ENTRIES, &head), ==, 0);
    g_assert_cmpint(head.seq, ==, ENTRIES);
    g_assert_cmpstr(head.seal, ==, records[ENTRIES - 1].seal);
}

/* One byte anywhere in the entry in the middle (XE2). */
static void
test_changed(void)
{
    static const struct {
        const char *name;
        gsize offset;
        gint64 fault;
    } rows[] = {
        {"at", offsetof(Record, at), 3},           {"kind", offsetof(Record, kind), 3},
        {"account", offsetof(Record, account), 3}, {"item", offsetof(Record, item), 3},
        {"who", offsetof(Record, who), 3},         {"details", offsetof(Record, details), 3},
        {"seal", offsetof(Record, seal), 3},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        Record records[ENTRIES];

        g_test_message("%s", rows[i].name);
        make_chain(records, KEY);
        ((char *)&records[2])[rows[i].offset] ^= 1;
        g_assert_cmpint(first_fault(records, ENTRIES, NULL), ==, rows[i].fault);
    }
}

/* A letter moved from one field to the next gives the same text and another seal (XC10). */
static void
test_shifted(void)
{
    Record records[ENTRIES];

    make_chain(records, KEY);
    strcpy(records[2].kind, "move");
    strcpy(records[2].account, "downer");
    g_assert_cmpint(first_fault(records, ENTRIES, NULL), ==, 3);
}

static void
test_removed(void)
{
    Record records[ENTRIES];
    ChainHead head;

    for (guint i = 0; i + 1 < ENTRIES; i++) {
        make_chain(records, KEY);
        memmove(&records[i], &records[i + 1], (ENTRIES - i - 1) * sizeof *records);
        g_assert_cmpint(first_fault(records, ENTRIES - 1, NULL), ==, i + 2); /* XE3 */
        for (guint j = i; j + 1 < ENTRIES; j++)
            records[j].seq = j + 1;
        g_assert_cmpint(first_fault(records, ENTRIES - 1, NULL), ==, i + 1);
    }
    /* Without its end the rest is whole: only a head from elsewhere tells (XE6). */
    make_chain(records, KEY);
    g_assert_cmpint(first_fault(records, ENTRIES - 1, &head), ==, 0);
    g_assert_cmpstr(head.seal, !=, records[ENTRIES - 1].seal);
}

static void
test_exchanged(void)
{
    Record records[ENTRIES], kept;

    make_chain(records, KEY);
    kept = records[1];
    records[1] = records[2];
    records[2] = kept;
    g_assert_cmpint(first_fault(records, ENTRIES, NULL), ==, 3); /* XE4 */
    records[1].seq = 2;
    records[2].seq = 3;
    g_assert_cmpint(first_fault(records, ENTRIES, NULL), ==, 2);
    make_chain(records, KEY);
    records[3] = records[2];
    g_assert_cmpint(first_fault(records, ENTRIES, NULL), ==, 3); /* twice the same */
}

static void
test_rebuilt(void)
{
    Record records[ENTRIES];

    make_chain(records, OTHER);
    g_assert_cmpint(first_fault(records, ENTRIES, NULL), ==, 1); /* XE5 */
    make_chain(records, NULL);
    g_assert_cmpint(first_fault(records, ENTRIES, NULL), ==, 1);
}

/* That something was lost is told by every verification, for ever. */
static void
test_loss(void)
{
    Record records[ENTRIES];
    g_autoptr(Seal) seal = seal_new(KEY);
    ChainHead head = {0};

    make_chain(records, KEY);
    first_fault(records, 2, &head);
    strcpy(records[2].kind, CHAIN_LOSS);
    ChainEntry entry = entry_of(&records[2]);
    g_autofree char *made = chain_seal(seal, &head, &entry);
    g_strlcpy(records[2].seal, made, sizeof records[2].seal);
    g_assert_cmpint(first_fault(records, 3, NULL), ==, 3);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/chain/whole", test_whole);
    g_test_add_func("/chain/changed/XE2", test_changed);
    g_test_add_func("/chain/shifted/XC10", test_shifted);
    g_test_add_func("/chain/removed/XE3", test_removed);
    g_test_add_func("/chain/exchanged/XE4", test_exchanged);
    g_test_add_func("/chain/rebuilt/XE5", test_rebuilt);
    g_test_add_func("/chain/loss/XE11", test_loss);
    return g_test_run();
}
