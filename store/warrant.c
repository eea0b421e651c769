#include "store/warrant.h"

#include <string.h>

#include "lib/fields.h"
#include "store/audit.h"
#include "store/warrant-sql.h"

/* More than one row's fields, so that nothing is allocated twice. */
#define FIELDS_BYTES 256

static GByteArray *
begin_fields(const char *tag, const char *account)
{
    GByteArray *fields = g_byte_array_sized_new(FIELDS_BYTES);

    fields_add_text(fields, tag);
    fields_add_text(fields, account);
    return fields;
}

void
warrant_seal_correspondent(Db *db, const char *account, const char *address,
                           const Correspondent *row, guint8 seal_out[SEAL_BYTES])
{
    g_autoptr(GByteArray) fields = begin_fields("exeat-correspondent-1", account);

    fields_add_text(fields, address);
    fields_add_number(fields, (guint64)row->times);
    fields_add_number(fields, (guint64)row->first_written);
    fields_add_number(fields, (guint64)row->last_written);
    fields_add_number(fields, (guint64)row->event);
    fields_add_number(fields, (guint64)row->vouched);
    fields_add_text(fields, row->voucher);
    seal_bytes(db_seal(db), fields, seal_out);
}

void
warrant_seal_participant(Db *db, const char *account, const char *address,
                         const Participant *row, guint8 seal_out[SEAL_BYTES])
{
    g_autoptr(GByteArray) fields = begin_fields("exeat-participant-1", account);

    fields_add_text(fields, address);
    fields_add_number(fields, (guint64)row->conversation);
    fields_add_text(fields, row->message);
    fields_add_number(fields, (guint64)row->written);
    seal_bytes(db_seal(db), fields, seal_out);
}

gboolean
warrant_fits(const guint8 seal[SEAL_BYTES], Rows *rows, int column)
{
    gsize length;
    const guint8 *claimed = rows_blob(rows, column, &length);
    guint8 difference = 0;

    if (length != SEAL_BYTES)
        return FALSE;
    for (guint i = 0; i < SEAL_BYTES; i++)
        difference |= (guint8)(seal[i] ^ claimed[i]);
    return difference == 0;
}

static void
add_number(guint8 sum[SEAL_BYTES], const guint8 number[SEAL_BYTES])
{
    guint carry = 0;

    for (guint i = 0; i < SEAL_BYTES; i++) {
        carry += (guint)sum[i] + number[i];
        sum[i] = (guint8)carry;
        carry >>= 8;
    }
}

void
warrant_add(Warrant *warrant, const guint8 seal[SEAL_BYTES])
{
    add_number(warrant->sum, seal);
    warrant->rows++;
    warrant->changed = TRUE;
}

void
warrant_take(Warrant *warrant, const guint8 seal[SEAL_BYTES])
{
    static const guint8 one[SEAL_BYTES] = {1};
    guint8 negative[SEAL_BYTES];

    for (guint i = 0; i < SEAL_BYTES; i++)
        negative[i] = (guint8)~seal[i];
    add_number(negative, one);
    add_number(warrant->sum, negative);
    warrant->rows--;
    warrant->changed = TRUE;
}

static char *
format_sum(const guint8 sum[SEAL_BYTES])
{
    GString *text = g_string_sized_new(SEAL_LENGTH);

    for (guint i = 0; i < SEAL_BYTES; i++)
        g_string_append_printf(text, "%02x", sum[i]);
    return g_string_free(text, FALSE);
}

static gboolean
parse_sum(const char *text, guint8 sum_out[SEAL_BYTES])
{
    if (strlen(text) != SEAL_LENGTH)
        return FALSE;
    for (guint i = 0; i < SEAL_BYTES; i++) {
        int high = g_ascii_xdigit_value(text[2 * (gsize)i]);
        int low = g_ascii_xdigit_value(text[2 * (gsize)i + 1]);

        if (high < 0 || low < 0)
            return FALSE;
        sum_out[i] = (guint8)(high * 16 + low);
    }
    return TRUE;
}

/* The sum as last recorded, nothing when there is none. An entry that cannot be read counts
 * for nothing, too: the chain does not fit it, and the rows will not. */
static gboolean
find_sum(Db *db, const char *account, Warrant *sum_out, GError **error)
{
    g_autoptr(Rows) rows = db_query(db, &warrant_newest, error, "s", account);
    g_autoptr(GVariant) details = NULL;
    gboolean found = FALSE;
    const char *text;
    Warrant sum = {0};

    if (!rows_one(rows, &found, error))
        return FALSE;
    if (found)
        details =
            g_variant_parse(G_VARIANT_TYPE_VARDICT, rows_text(rows, 0), NULL, NULL, NULL);
    if (details == NULL || !g_variant_lookup(details, "rows", "x", &sum.rows) ||
        !g_variant_lookup(details, "sum", "&s", &text) || !parse_sum(text, sum.sum))
        sum = (Warrant){0};
    *sum_out = sum;
    return TRUE;
}

static gboolean
record_sum(Db *db, const char *account, const Warrant *sum, const char *who, const char *id,
           gint64 now, GError **error)
{
    g_autofree char *text = format_sum(sum->sum);
    GVariantDict details;

    g_variant_dict_init(&details, NULL);
    g_variant_dict_insert(&details, "rows", "x", sum->rows);
    g_variant_dict_insert(&details, "sum", "s", text);
    if (id != NULL && *id != '\0') {
        g_autofree char *valid = g_utf8_make_valid(id, -1);
        g_variant_dict_insert(&details, "message", "s", valid);
    }
    const AuditEntry entry = {.kind = "history",
                              .account = account,
                              .who = who,
                              .details = g_variant_dict_end(&details)};
    return audit_append(db, &entry, now, error);
}

gboolean
warrant_record(Db *db, const char *account, const Warrant *warrant, const char *who,
               const char *id, gint64 now, GError **error)
{
    Warrant sum = {0};

    if (!warrant->changed)
        return TRUE;
    if (!find_sum(db, account, &sum, error))
        return FALSE;
    add_number(sum.sum, warrant->sum);
    sum.rows += warrant->rows;
    return record_sum(db, account, &sum, who, id, now, error);
}

/* A row that is not ours: what removes it, and its key after the account. */
typedef struct {
    const Sql *removal;
    char *address;
    gint64 conversation; /* 0: of no participant */
} Stray;

static void
stray_free(gpointer data)
{
    Stray *stray = data;

    g_free(stray->address);
    g_free(stray);
}

/* A walk over the rows of one account. */
typedef struct {
    Db *db;
    const char *account;
    Warrant sum; /* of rows whose seal fits */
    GPtrArray *faults;
    GPtrArray *strays; /* of Stray *, or NULL: they are told only */
} Walk;

static void
tell(Walk *walk, char *fault)
{
    if (walk->faults->len < WARRANT_FAULTS_MOST)
        g_ptr_array_add(walk->faults, fault);
    else
        g_free(fault);
}

typedef void (*SealRow)(Walk *walk, Rows *rows, guint8 seal_out[SEAL_BYTES]);

typedef struct {
    const char *what;
    const Sql *query;
    const Sql *removal;
    int conversation; /* its column, -1: none */
    SealRow seal;
} Kind;

static void
seal_correspondent(Walk *walk, Rows *rows, guint8 seal_out[SEAL_BYTES])
{
    const Correspondent row = {.times = rows_integer(rows, 2),
                               .first_written = rows_integer(rows, 3),
                               .last_written = rows_integer(rows, 4),
                               .event = rows_integer(rows, 5),
                               .vouched = rows_integer(rows, 6),
                               .voucher = rows_text(rows, 7)};

    warrant_seal_correspondent(walk->db, walk->account, rows_text(rows, 1), &row, seal_out);
}

static void
seal_participant(Walk *walk, Rows *rows, guint8 seal_out[SEAL_BYTES])
{
    const Participant row = {rows_integer(rows, 2), rows_text(rows, 3), rows_integer(rows, 4)};

    warrant_seal_participant(walk->db, walk->account, rows_text(rows, 1), &row, seal_out);
}

static void
note_stray(Walk *walk, const Kind *kind, Rows *rows)
{
    const char *address = rows_text(rows, 1);

    tell(walk, g_strdup_printf("%s %s was not written by the relay", kind->what, address));
    if (walk->strays == NULL)
        return;
    Stray *stray = g_new0(Stray, 1);
    stray->removal = kind->removal;
    stray->address = g_strdup(address);
    stray->conversation = kind->conversation >= 0 ? rows_integer(rows, kind->conversation) : 0;
    g_ptr_array_add(walk->strays, stray);
}

static gboolean
walk_rows(Walk *walk, const Kind *kind, GError **error)
{
    g_autoptr(Rows) rows = db_query(walk->db, kind->query, error, "s", walk->account);
    guint8 seal[SEAL_BYTES];

    while (rows_next(rows)) {
        kind->seal(walk, rows, seal);
        if (warrant_fits(seal, rows, 0))
            warrant_add(&walk->sum, seal);
        else
            note_stray(walk, kind, rows);
    }
    return rows_end(rows, error);
}

static gboolean
walk_all(Walk *walk, GError **error)
{
    static const Kind correspondents = {"correspondent", &warrant_correspondents,
                                        &warrant_drop_correspondent, -1, seal_correspondent};
    static const Kind participants = {"participant", &warrant_participants,
                                      &warrant_drop_participant, 2, seal_participant};
    Warrant sum;

    if (!walk_rows(walk, &correspondents, error) || !walk_rows(walk, &participants, error) ||
        !find_sum(walk->db, walk->account, &sum, error))
        return FALSE;
    if (sum.rows != walk->sum.rows || memcmp(sum.sum, walk->sum.sum, SEAL_BYTES) != 0)
        g_ptr_array_add(walk->faults,
                        g_strdup_printf("of %" G_GINT64_FORMAT
                                        " rows that were recorded, %" G_GINT64_FORMAT
                                        " are there, or some are older than the record",
                                        sum.rows, walk->sum.rows));
    return TRUE;
}

gboolean
warrant_check(Db *db, const char *account, GPtrArray **faults_out, GError **error)
{
    g_autoptr(GPtrArray) faults = g_ptr_array_new_with_free_func(g_free);
    Walk walk = {.db = db, .account = account, .faults = faults};

    if (!db_begin_reading(db, error))
        return FALSE;
    gboolean walked = walk_all(&walk, error);
    db_rollback(db);
    if (walked)
        *faults_out = g_steal_pointer(&faults);
    return walked;
}

/* How many correspondents a domain has is left as it was: at worst an address is taken for one
 * of a domain that nobody writes to any more. */
static gboolean
remove_strays(const Walk *walk, GError **error)
{
    for (guint i = 0; i < walk->strays->len; i++) {
        const Stray *stray = walk->strays->pdata[i];

        if (db_run(walk->db, stray->removal, error, "ssi", walk->account, stray->address,
                   stray->conversation) < 0)
            return FALSE;
    }
    return TRUE;
}

gboolean
warrant_accept(Db *db, const char *account, const char *who, gint64 now,
               GPtrArray **faults_out, GError **error)
{
    g_autoptr(GPtrArray) faults = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GPtrArray) strays = g_ptr_array_new_with_free_func(stray_free);
    Walk walk = {.db = db, .account = account, .faults = faults, .strays = strays};

    if (!walk_all(&walk, error) || !remove_strays(&walk, error))
        return FALSE;
    if (faults->len > 0 && !record_sum(db, account, &walk.sum, who, NULL, now, error))
        return FALSE;
    *faults_out = g_steal_pointer(&faults);
    return TRUE;
}
