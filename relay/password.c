#include "relay/password.h"

#include <string.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

#include "lib/error.h"
#include "store/audit.h"
#include "store/tries.h"

/* RFC 7914, 2: about a tenth of a second, and 128 * COST * BLOCK bytes. */
enum { COST = 32768, BLOCK = 8, LANES = 1 };
#define MEMORY_MOST ((guint64)64 * 1024 * 1024)

/* Bytes of a new password. A long one is taken, too. */
enum { LEAST = 8, MOST = 1000 };

/* Each takes its memory. */
static GMutex one_at_a_time;

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

typedef struct {
    const Request *request;
    gint64 pause;
} Try;

static gboolean
take_try(gpointer data, GError **error)
{
    Try *try = data;

    return tries_take(try->request->relay->db, try->request->uid, try->request->now,
                      &try->pause, error);
}

static gboolean
forget_tries(gpointer data, GError **error)
{
    const Request *request = data;

    return tries_forget(request->relay->db, request->uid, error);
}

/* Looks at no password while the user's pause lasts. */
static gboolean
try_password(Request *request, const Password *known, const char *password, GError **error)
{
    Writer *writer = request->relay->writer;
    Try try = {.request = request};

    if (!writer_run(writer, take_try, &try, error))
        return FALSE;
    if (try.pause > 0) {
        g_set_error(error, REQUEST_ERROR, REQUEST_DENIED,
                    "the password was wrong too often: try again in %" G_GINT64_FORMAT
                    " seconds",
                    try.pause);
        return FALSE;
    }
    return fits(known, password, &request->confirmed, error) &&
           (!request->confirmed || writer_run(writer, forget_tries, request, error));
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
    g_mutex_lock(&one_at_a_time);
    gboolean tried = try_password(request, known, password, error);
    g_mutex_unlock(&one_at_a_time);
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
