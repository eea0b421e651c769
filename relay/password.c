#include "relay/password.h"

#include <string.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

#include "lib/error.h"
#include "store/audit.h"

/* RFC 7914, 2: about a tenth of a second, and 128 * COST * BLOCK bytes. */
enum { COST = 32768, BLOCK = 8, LANES = 1 };
#define MEMORY_MOST ((guint64)64 * 1024 * 1024)

/* Seconds. */
enum { PAUSE_FIRST = 60, PAUSE_MOST = 3600 };

/* Bytes of a new password. A long one is taken, too. */
enum { LEAST = 8, MOST = 1000 };

typedef struct {
    guint wrong;
    gint64 until;
} Tries;

/* Of each user that was wrong since the last time it was right. */
static struct {
    GMutex lock;
    GHashTable *of_uid;
} tries;

static gboolean
make_hash(const char *password, Password *hashed, GError **error)
{
    if (EVP_PBE_scrypt(password, strlen(password), hashed->salt, sizeof hashed->salt, COST,
                       BLOCK, LANES, MEMORY_MOST, hashed->hash, sizeof hashed->hash) == 1)
        return TRUE;
    g_set_error(error, EXEAT_ERROR, ERROR_TEMP, "no scrypt hash could be computed");
    return FALSE;
}

static gboolean
fits(const Password *known, const char *password, gboolean *fits_out, GError **error)
{
    Password hashed = *known;

    if (!make_hash(password, &hashed, error))
        return FALSE;
    *fits_out = CRYPTO_memcmp(hashed.hash, known->hash, sizeof known->hash) == 0;
    return TRUE;
}

/* The lock is held. */
static Tries *
tries_of(uid_t uid)
{
    if (tries.of_uid == NULL)
        tries.of_uid = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    Tries *found = g_hash_table_lookup(tries.of_uid, GUINT_TO_POINTER(uid));
    if (found == NULL) {
        found = g_new0(Tries, 1);
        g_hash_table_insert(tries.of_uid, GUINT_TO_POINTER(uid), found);
    }
    return found;
}

static void
count_try(Tries *tried, gboolean good, gint64 now)
{
    if (good) {
        *tried = (Tries){0};
        return;
    }
    tried->wrong++;
    if (tried->wrong < PASSWORD_TRIES)
        return;
    guint doublings = MIN(tried->wrong - PASSWORD_TRIES, 6);
    tried->until = now + MIN(PAUSE_FIRST << doublings, PAUSE_MOST);
}

/* Looks at no password while the user's pause lasts. The lock is held: one at a time. */
static gboolean
try_password(Request *request, const Password *known, const char *password, GError **error)
{
    Tries *tried = tries_of(request->uid);

    if (request->now < tried->until) {
        g_set_error(error, REQUEST_ERROR, REQUEST_DENIED,
                    "the password was wrong too often: try again in %" G_GINT64_FORMAT
                    " seconds",
                    tried->until - request->now);
        return FALSE;
    }
    if (!fits(known, password, &request->confirmed, error))
        return FALSE;
    count_try(tried, request->confirmed, request->now);
    return TRUE;
}

static gboolean
record_wrong(gpointer data, GError **error)
{
    const Request *request = data;
    const AuditEntry entry = {.kind = "password-wrong", .who = request->who};

    return audit_append(request->relay->db, &entry, request->now, error);
}

static gboolean
check(Request *request, const char *password, GError **error)
{
    const GArray *passwords = request->config->passwords;
    const Password *known = passwords != NULL ? passwords_find(passwords, request->uid) : NULL;

    if (known == NULL) {
        g_set_error(error, REQUEST_ERROR, REQUEST_DENIED,
                    "there is no password of %s in the file of approver-passwords",
                    request->who);
        return FALSE;
    }
    g_mutex_lock(&tries.lock);
    gboolean tried = try_password(request, known, password, error);
    g_mutex_unlock(&tries.lock);
    if (!tried)
        return FALSE;
    if (request->confirmed)
        return TRUE;
    if (!writer_run(request->relay->writer, record_wrong, request, error))
        return FALSE;
    g_set_error(error, REQUEST_ERROR, REQUEST_DENIED, "this is not the password of %s",
                request->who);
    return FALSE;
}

/* The text lies in the bytes that came over the socket, which nobody else reads any more. */
static void
wipe(const char *password)
{
    explicit_bzero((char *)password, strlen(password));
}

gboolean
password_check(Request *request, GError **error)
{
    const char *password;

    if (!g_variant_lookup(request->arguments, "password", "&s", &password))
        return TRUE;
    gboolean good = check(request, password, error);
    wipe(password);
    return good;
}

gboolean
password_suffices(const Request *request, const Account *account, GError **error)
{
    if (!account->confirm || request->confirmed)
        return TRUE;
    g_set_error(error, REQUEST_ERROR, REQUEST_PASSWORD,
                "account %s wants the approver's password", account->name);
    return FALSE;
}

gboolean
password_read_new(Request *request, GError **error)
{
    const char *user = request_line(request, "user", error);
    const char *password = user ? request_text(request, "password", error) : NULL;
    Password hashed = {0};

    if (password == NULL)
        return FALSE;
    gsize length = strlen(password);
    if (length < LEAST || length > MOST || strchr(user, ':') != NULL) {
        g_set_error(error, REQUEST_ERROR, REQUEST_USAGE,
                    "a user and a password of %d to %d bytes are needed", LEAST, MOST);
        return FALSE;
    }
    gboolean made = RAND_bytes(hashed.salt, sizeof hashed.salt) == 1 &&
                    make_hash(password, &hashed, error);
    wipe(password);
    if (!made) {
        if (error != NULL && *error == NULL)
            g_set_error(error, EXEAT_ERROR, ERROR_TEMP, "no random numbers");
        return FALSE;
    }
    g_autofree char *line = passwords_format(user, &hashed);
    GVariantDict dict;
    g_variant_dict_init(&dict, NULL);
    g_variant_dict_insert(&dict, "line", "s", line);
    request->reply = g_variant_ref_sink(g_variant_dict_end(&dict));
    return TRUE;
}

gboolean
password_make(Request *request, GError **error)
{
    const char *user = request_text(request, "user", error);
    GVariantDict details;

    if (user == NULL)
        return FALSE;
    g_variant_dict_init(&details, NULL);
    g_variant_dict_insert(&details, "for", "s", user);
    const AuditEntry entry = {
        .kind = "password-made", .who = request->who, .details = g_variant_dict_end(&details)};
    return audit_append(request->relay->db, &entry, request->now, error);
}
