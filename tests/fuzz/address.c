/* Addresses as written, and those that occur in a text. */
#include "tests/fuzz/fuzz.h"

#include "lib/address.h"
#include "lib/lookalike.h"

enum { LIMIT = 200 };

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    fuzz_begin();
    return 0;
}

/* A normal form is its own, and has a domain that is one, too. */
static void
check_normal(const char *normal)
{
    g_autofree char *again = address_normalise(normal, NULL);
    g_autofree char *skeleton = lookalike_address(normal);
    const char *domain = address_domain(normal);

    g_assert_cmpstr(again, ==, normal);
    g_assert(skeleton != NULL);
    if (*domain == '[')
        return;
    g_autofree char *same = address_domain_normalise(domain);
    g_autoptr(GPtrArray) filed = lookalike_file_keys(domain);
    g_autoptr(GPtrArray) sought = lookalike_find_keys(domain);

    g_assert_cmpstr(same, ==, domain);
    g_assert(filed->len > 0 && sought->len > 0);
    g_assert(!lookalike_domain(domain, domain));
}

int
LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
    g_autofree char *bytes = g_strndup((const char *)data, size);
    g_autofree char *text = fuzz_text(data, size);
    g_autoptr(GPtrArray) found = g_ptr_array_new_with_free_func(g_free);
    AddressProblem problem = ADDRESS_OK;
    g_autofree char *raw = address_normalise(bytes, NULL);
    g_autofree char *normal = address_normalise(text, &problem);

    g_assert((normal == NULL) == (problem != ADDRESS_OK));
    if (raw != NULL)
        check_normal(raw);
    if (normal != NULL)
        check_normal(normal);
    address_scan(text, found, LIMIT);
    g_assert(found->len <= LIMIT);
    for (guint i = 0; i < found->len; i++)
        check_normal(g_ptr_array_index(found, i));
    return 0;
}
