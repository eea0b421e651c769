#include "relay/smtp-scram.h"

#include <string.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "lib/error.h"
#include "lib/secret.h"

enum { ROUNDS_LEAST = 4096, ROUNDS_MOST = 1000000 };

struct _Scram {
    const EVP_MD *hash;
    char *first;    /* with its GS2 header */
    char *password; /* cleared when freed */
    char *nonce;
    guint8 proof_of_server[EVP_MAX_MD_SIZE];
    gboolean has_proof;
};

#define GS2_HEADER  "n,,"
#define GS2_ENCODED "biws" /* its base64 */

static char *
prepare(const char *text)
{
    char *normal = g_utf8_normalize(text, -1, G_NORMALIZE_ALL_COMPOSE);

    return normal != NULL ? normal : g_strdup(text);
}

/* RFC 5802, 5.1: "=" and "," have a meaning of their own. */
static char *
escape_name(const char *user)
{
    g_autofree char *prepared = prepare(user);
    g_auto(GStrv) equals = g_strsplit(prepared, "=", -1);
    g_autofree char *half = g_strjoinv("=3D", equals);
    g_auto(GStrv) commas = g_strsplit(half, ",", -1);

    return g_strjoinv("=2C", commas);
}

Scram *
scram_new(gboolean sha256, const char *user, const char *password, const char *nonce)
{
    Scram *scram = g_new0(Scram, 1);
    g_autofree char *name = escape_name(user);

    scram->hash = sha256 ? EVP_sha256() : EVP_sha1();
    scram->first = g_strdup_printf(GS2_HEADER "n=%s,r=%s", name, nonce);
    scram->password = prepare(password);
    scram->nonce = g_strdup(nonce);
    return scram;
}

void
scram_free(Scram *scram)
{
    if (scram == NULL)
        return;
    secret_forget(scram->password);
    g_free(scram->first);
    g_free(scram->nonce);
    g_free(scram);
}

const char *
scram_first(const Scram *scram)
{
    return scram->first;
}

static gboolean
fail(GError **error, const char *what)
{
    g_set_error(error, EXEAT_ERROR, ERROR_PROTOCOL, "SCRAM: %s", what);
    return FALSE;
}

static void
hmac(const Scram *scram, const guint8 *key, const char *text, guint8 *out)
{
    int length = EVP_MD_get_size(scram->hash);

    g_assert(HMAC(scram->hash, key, length, (const guint8 *)text, strlen(text), out, NULL));
}

/* The value of an attribute at its place: "r=…". NULL when another stands there. */
static const char *
attribute(char *const *parts, guint place, char name)
{
    if (g_strv_length((char **)parts) <= place || parts[place][0] != name ||
        parts[place][1] != '=')
        return NULL;
    return parts[place] + 2;
}

/* RFC 5802, 3. The message for both signatures is
 * client-first-bare "," server-first "," client-final-without-proof. */
static char *
prove(Scram *scram, const char *server_first, const char *without_proof, const guint8 *salt,
      gsize salt_length, guint rounds)
{
    guint8 salted[EVP_MAX_MD_SIZE], client[EVP_MAX_MD_SIZE], server[EVP_MAX_MD_SIZE];
    guint8 stored[EVP_MAX_MD_SIZE], signature[EVP_MAX_MD_SIZE];
    int length = EVP_MD_get_size(scram->hash);
    g_autofree char *message = g_strconcat(scram->first + strlen(GS2_HEADER), ",",
                                           server_first, ",", without_proof, NULL);

    g_assert(PKCS5_PBKDF2_HMAC(scram->password, (int)strlen(scram->password), salt,
                               (int)salt_length, (int)rounds, scram->hash, length, salted));
    hmac(scram, salted, "Client Key", client);
    g_assert(EVP_Digest(client, (gsize)length, stored, NULL, scram->hash, NULL));
    hmac(scram, stored, message, signature);
    hmac(scram, salted, "Server Key", server);
    hmac(scram, server, message, scram->proof_of_server);
    scram->has_proof = TRUE;
    for (int i = 0; i < length; i++)
        client[i] ^= signature[i];
    char *proof = g_base64_encode(client, (gsize)length);
    OPENSSL_cleanse(salted, sizeof salted);
    OPENSSL_cleanse(stored, sizeof stored);
    OPENSSL_cleanse(server, sizeof server);
    return proof;
}

/* What the server's first message says; parts own the texts. */
typedef struct {
    const char *nonce, *salt;
    guint64 rounds;
} Asked;

static gboolean
read_first(const Scram *scram, char *const *parts, Asked *asked, GError **error)
{
    const char *rounds = attribute(parts, 2, 'i');

    asked->nonce = attribute(parts, 0, 'r');
    asked->salt = attribute(parts, 1, 's');
    if (asked->nonce == NULL || asked->salt == NULL || *asked->salt == '\0' || rounds == NULL)
        return fail(error, "this is not the server's first message");
    if (!g_str_has_prefix(asked->nonce, scram->nonce) ||
        strlen(asked->nonce) == strlen(scram->nonce))
        return fail(error, "the server's nonce does not go on from ours");
    return g_ascii_string_to_unsigned(rounds, 10, ROUNDS_LEAST, ROUNDS_MOST, &asked->rounds,
                                      NULL) ||
           fail(error, "the server wants too few or too many rounds");
}

char *
scram_final(Scram *scram, const char *server_first, GError **error)
{
    g_auto(GStrv) parts = g_strsplit(server_first, ",", -1);
    gsize length = 0;
    Asked asked;

    if (!read_first(scram, parts, &asked, error))
        return NULL;
    g_autofree guint8 *salt = g_base64_decode(asked.salt, &length);
    g_autofree char *without_proof = g_strdup_printf("c=" GS2_ENCODED ",r=%s", asked.nonce);
    g_autofree char *proof =
        prove(scram, server_first, without_proof, salt, length, (guint)asked.rounds);
    return g_strdup_printf("%s,p=%s", without_proof, proof);
}

gboolean
scram_verify(const Scram *scram, const char *server_final, GError **error)
{
    g_auto(GStrv) parts = g_strsplit(server_final, ",", -1);
    const char *text = attribute(parts, 0, 'v');
    gsize length = 0;
    g_autofree guint8 *proof = text != NULL ? g_base64_decode(text, &length) : NULL;

    if (proof == NULL || !scram->has_proof)
        return fail(error, "the server does not prove that it knows the password");
    if (length != (gsize)EVP_MD_get_size(scram->hash) ||
        CRYPTO_memcmp(proof, scram->proof_of_server, length) != 0)
        return fail(error, "the server's proof is wrong");
    return TRUE;
}
