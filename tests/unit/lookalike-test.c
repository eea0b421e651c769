/* What could be taken for what: addresses, domains, and the keys by which an index finds
 * them. */
#include "lib/lookalike.h"

#include "lib/address.h"

/* Addresses that look the same as nora.ann@example.org, or do not. */
static const struct {
    const char *written;
    gboolean same;
} addresses[] = {
    {"nora.ann@example.org", TRUE},
    {"noraann@example.org", TRUE},
    {"n.o.r.a_ann@example.org", TRUE},
    {"nora-ann@example.org", TRUE},
    {"nora.ann+bank@example.org", TRUE},
    {"n0ra.ann@example.org", TRUE},
    {"nora.ann@examp1e.org", TRUE},
    {"nora.ann@exampie.org", TRUE},
    {"nora.ann@exarnple.org", TRUE},
    {"nora.ann@ex\xd0\xb0mple.org", TRUE},               /* Cyrillic a */
    {"nora.ann@\xd0\xb5x\xd0\xb0mpl\xd0\xb5.org", TRUE}, /* and e */
    {"nora.ann@xn--exmple-4nf.org", TRUE},               /* the same, in its xn-- spelling */
    {"nora.ann@\xce\xb5xample.org", TRUE},               /* Greek epsilon */
    {"nora.ann@ex\xe1\xba\xa1mple.org", TRUE},           /* a with a dot below */
    {"\xc9\xb2ora.a\xca\x8en@example.org", FALSE},       /* a turned y is no n */
    {"\xc9\xb2\xc9\xb5\xc9\xbd"
     "a.ann@example.org",
     TRUE},                                /* Latin with hooks and bars */
    {"n\xd3\xa9ra.ann@example.org", TRUE}, /* Cyrillic barred o */
    {"\xce\x9dora.ann@example.org", TRUE}, /* Greek capital nu */
    {"nora.ann@\xc9\x87x\xc9\x91\xc9\xb1ple.org", TRUE},
    {"nora.ann@\xd1\x94x\xd0\xb0mp\xc9\xab"
     "e.org",
     TRUE}, /* Cyrillic ie, l with a tilde */
    {"n\xd0\xberc.ann@example.org", FALSE},
    {"n\xd0\xbera.ann@example.org", TRUE},
    {"nora.anna@example.org", FALSE},
    {"nora@example.org", FALSE},
    {"bob@example.org", FALSE},
    {"+nora.ann@example.org", FALSE},
    {"nora.ann@exa-mple.org", FALSE}, /* a domain's hyphen is an edit, not nothing */
    {"nora.ann@example.net", FALSE},
};

static void
test_addresses(void)
{
    g_autofree char *wanted = lookalike_address("nora.ann@example.org");

    for (gsize i = 0; i < G_N_ELEMENTS(addresses); i++) {
        g_autofree char *normal = address_normalise(addresses[i].written, NULL);
        g_assert_nonnull(normal);
        g_autofree char *looks = lookalike_address(normal);

        g_test_message("%s: %s", addresses[i].written, looks);
        g_assert_cmpint(g_str_equal(looks, wanted), ==, addresses[i].same);
    }
}

static const struct {
    const char *domain, *other;
    gboolean alike;
} domains[] = {
    /* nobody looks like himself, and who is below is of the house */
    {"example.com", "example.com", FALSE},
    {"mail.example.com", "example.com", FALSE},
    {"a.b.example.com", "example.com", FALSE},
    /* fonts */
    {"examp1e.com", "example.com", TRUE},
    {"exarnple.com", "example.com", TRUE},
    {"vvork.example", "work.example", TRUE},
    {"g00gle.example", "google.example", TRUE},
    {"xn--exmple-4nf.com", "example.com", TRUE},
    {"xn--80ak6aa92e.com", "apple.com", TRUE},
    {"xn--mller-kva.example", "muller.example", TRUE},
    {"xn--.com", "example.com", FALSE},
    /* one edit */
    {"example.co", "example.com", TRUE},
    {"exmple.com", "example.com", TRUE},
    {"examplee.com", "example.com", TRUE},
    {"eaxmple.com", "example.com", TRUE},
    {"ezample.com", "example.com", TRUE},
    {"ex-ample.com", "example.com", TRUE},
    {"xexample.com", "example.com", TRUE},
    {"example.comm", "example.com", TRUE},
    /* two edits */
    {"exmpl.com", "example.com", FALSE},
    {"example.net", "example.com", FALSE},
    {"exampel.co", "example.com", FALSE},
    {"amexple.com", "example.com", FALSE},
    {"ab.de", "ac.de", FALSE}, /* too short to say */
    {"t.co", "x.co", FALSE},
    /* the whole name inside another */
    {"example.com.evil.net", "example.com", TRUE},
    {"login.example.com.evil.net", "example.com", TRUE},
    {"example-com.net", "example.com", TRUE},
    {"example-com.evil.net", "example.com", TRUE},
    {"my-example.com", "example.com", TRUE},
    {"examp1e.com.evil.net", "example.com", TRUE},
    {"example.xn--comlogin-634g.evil.net", "example.com",
     TRUE},                                          /* a Katakana letter for the slash */
    {"xn--myexample-cl5h.com", "example.com", TRUE}, /* and a middle dot */
    {"xn--vckucxgb.example.net", "example.com", FALSE},
    {"counterexample.com", "example.com", FALSE},
    {"example.org.evil.net", "example.com", FALSE},
    {"evil.net", "example.com", FALSE},
    {"example.com", "mail.example.com", FALSE},
    {"gmail.com", "gmail.com", FALSE},
};

static gboolean
share_a_key(const char *domain, const char *other)
{
    g_autoptr(GPtrArray) find = lookalike_find_keys(domain);
    g_autoptr(GPtrArray) file = lookalike_file_keys(other);

    for (guint i = 0; i < find->len; i++)
        if (g_ptr_array_find_with_equal_func(file, g_ptr_array_index(find, i), g_str_equal,
                                             NULL))
            return TRUE;
    return FALSE;
}

/* The table, and that no look-alike is missed by its keys. */
static void
test_domains(void)
{
    for (gsize i = 0; i < G_N_ELEMENTS(domains); i++) {
        g_test_message("%s and %s", domains[i].domain, domains[i].other);
        g_assert_cmpint(lookalike_domain(domains[i].domain, domains[i].other), ==,
                        domains[i].alike);
        if (domains[i].alike)
            g_assert_true(share_a_key(domains[i].domain, domains[i].other));
    }
}

/* Every edit at every place of a name is found, on both sides. */
static void
test_edits(void)
{
    const char *name = "example.org";

    for (gsize i = 0; name[i] != '\0'; i++) {
        g_autofree char *less = g_strdup_printf("%.*s%s", (int)i, name, name + i + 1);
        g_autofree char *more = g_strdup_printf("%.*sq%s", (int)i, name, name + i);
        g_autofree char *other = g_strdup_printf("%.*sq%s", (int)i, name, name + i + 1);
        const char *edits[] = {less, more, other};

        for (gsize j = 0; j < G_N_ELEMENTS(edits); j++) {
            g_assert_true(lookalike_domain(edits[j], name));
            g_assert_true(share_a_key(edits[j], name));
            g_assert_true(lookalike_domain(name, edits[j]));
            g_assert_true(share_a_key(name, edits[j]));
        }
    }
}

/* The longest names there are make no more keys than a short one may. */
static void
test_limits(void)
{
    g_autoptr(GString) parts = g_string_new(NULL);
    g_autoptr(GString) labels = g_string_new(NULL);

    for (guint i = 0; i < 126; i++)
        g_string_append(parts, "a-");
    g_string_append(parts, "a");
    for (guint i = 0; i < 4; i++)
        g_string_append_printf(labels, "%s%060d", i > 0 ? "." : "", 7);
    g_autoptr(GPtrArray) many = lookalike_find_keys(parts->str);
    g_autoptr(GPtrArray) large = lookalike_find_keys(labels->str);
    g_autoptr(GPtrArray) filed = lookalike_file_keys(labels->str);
    g_assert_cmpuint(many->len, <=, 150);
    g_assert_cmpuint(large->len, <=, 150);
    g_assert_cmpuint(filed->len, ==, 2);
}

static void
test_text(void)
{
    static const char *const texts[][2] = {
        {"f\u043erw\u0430rded", "forwarded"},
        {"a \u03bf b, \u043e1", "a \u03bf b, \u043e1"},
        {"wi-fi-\u0441\u0435\u0442\u044c", "wi-fi-\u0441\u0435\u0442\u044c"},
        {"stra\u00dfe, k\u00f8b", "stra\u00dfe, k\u00f8b"},
        {"excel\u4e00", "excel\u4e00"},
        {"", ""},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
        g_autofree char *text = lookalike_text(texts[i][0]);
        g_assert_cmpstr(text, ==, texts[i][1]);
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/lookalike/addresses XB9", test_addresses);
    g_test_add_func("/lookalike/domains XB9 XD9", test_domains);
    g_test_add_func("/lookalike/edits", test_edits);
    g_test_add_func("/lookalike/limits", test_limits);
    g_test_add_func("/lookalike/text XB21", test_text);
    return g_test_run();
}
