/* address-test - normal forms, problems, and addresses in texts */
#include "lib/address.h"

static const struct {
    const char *name;
    const char *written;
    const char *normal; /* NULL: none */
    AddressProblem problem;
} forms[] = {
    {"plain", "dana@example.com", "dana@example.com", ADDRESS_OK},
    {"brackets", "<dana@example.com>", "dana@example.com", ADDRESS_OK},
    {"A6 case", "Dana@Example.COM", "dana@example.com", ADDRESS_OK},
    {"A6 needless quotes", "\"dana\"@example.com", "dana@example.com", ADDRESS_OK},
    {"A6 trailing dot", "dana@example.com.", "dana@example.com", ADDRESS_OK},
    {"A7 plus tag stays", "nora+invoices@example.org", "nora+invoices@example.org",
     ADDRESS_OK},
    {"XB10 dots stay", "n.ora@example.org", "n.ora@example.org", ADDRESS_OK},
    {"quoted pair without need", "\"d\\ana\"@example.com", "dana@example.com", ADDRESS_OK},
    {"needed quotes stay", "\"dana x\"@example.com", "\"dana x\"@example.com", ADDRESS_OK},
    {"quotes in quotes", "\"a\\\"b\"@example.com", "\"a\\\"b\"@example.com", ADDRESS_OK},
    {"partly quoted", "a.\"b\".c@example.com", "a.b.c@example.com", ADDRESS_OK},
    {"two dots, unquoted", "a..b@example.com", "\"a..b\"@example.com", ADDRESS_OK},
    {"two dots, quoted", "\"a..b\"@example.com", "\"a..b\"@example.com", ADDRESS_OK},
    {"A10 IDN", "kontakt@bücher.example.org", "kontakt@xn--bcher-kva.example.org", ADDRESS_OK},
    {"A10 xn--", "kontakt@XN--bcher-KVA.example.org", "kontakt@xn--bcher-kva.example.org",
     ADDRESS_OK},
    {"IDN in capitals", "kontakt@BÜCHER.example.org", "kontakt@xn--bcher-kva.example.org",
     ADDRESS_OK},
    {"IDNA 2008 keeps the sharp s", "a@straße.example", "a@xn--strae-oqa.example", ADDRESS_OK},
    {"XB9 cyrillic letter", "a@ex\xd0\xb0mple.com", "a@xn--exmple-4nf.com", ADDRESS_OK},
    {"UTF-8 local part", "jürgen@example.org", "jürgen@example.org", ADDRESS_OK},
    {"only ASCII letters lose case", "JÜRGEN@example.org", "jÜrgen@example.org", ADDRESS_OK},
    {"one label", "root@localhost", "root@localhost", ADDRESS_OK},
    {"XF15 looks like an option", "-oQ/x@example.com", "-oq/x@example.com", ADDRESS_OK},
    {"empty", "", NULL, ADDRESS_EMPTY},
    {"empty brackets", "<>", NULL, ADDRESS_EMPTY},
    {"empty quotes", "\"\"@example.com", NULL, ADDRESS_EMPTY},
    {"source route", "@a.example,@b.example:c@example.com", NULL, ADDRESS_SOURCE_ROUTE},
    {"A8 percent", "mallory%example.net@example.com", NULL, ADDRESS_ROUTED},
    {"A9 quoted at", "\"sam@example.org x\"@example.net", NULL, ADDRESS_ROUTED},
    {"XB11 bang", "example.net!mallory@example.com", NULL, ADDRESS_ROUTED},
    {"XB11 wide at",
     "mallory\xef\xbc\xa0"
     "example.net@example.com",
     NULL, ADDRESS_ROUTED},
    {"XB11 small percent",
     "mallory\xef\xb9\xaa"
     "example.net@example.com",
     NULL, ADDRESS_ROUTED},
    {"two ats", "sam@example.org@example.com", NULL, ADDRESS_ROUTED},
    {"escaped percent in quotes", "\"m\\%x\"@example.com", NULL, ADDRESS_ROUTED},
    {"space", "dana x@example.com", NULL, ADDRESS_CONTROL},
    {"line break", "dana\r\nx@example.com", NULL, ADDRESS_CONTROL},
    {"control in quotes", "\"dana\x07\"@example.com", NULL, ADDRESS_CONTROL},
    {"C1 control", "dana\xc2\x85@example.com", NULL, ADDRESS_CONTROL},
    {"bracket inside", "dana<x@example.com", NULL, ADDRESS_CONTROL},
    {"open quote", "\"dana@example.com", NULL, ADDRESS_CONTROL},
    {"not UTF-8", "d\xe4na@example.com", NULL, ADDRESS_CONTROL},
    {"no at", "dana", NULL, ADDRESS_NO_DOMAIN},
    {"nothing after at", "dana@", NULL, ADDRESS_NO_DOMAIN},
    {"empty label", "dana@example..com", NULL, ADDRESS_BAD_DOMAIN},
    {"dot alone", "dana@.", NULL, ADDRESS_BAD_DOMAIN},
    {"leading dot", "dana@.example.com", NULL, ADDRESS_BAD_DOMAIN},
    {"two trailing dots", "dana@example.com..", NULL, ADDRESS_BAD_DOMAIN},
    {"hyphen at the end", "dana@example-.com", NULL, ADDRESS_BAD_DOMAIN},
    {"space in domain", "dana@example com", NULL, ADDRESS_BAD_DOMAIN},
    {"full-width at in domain", "dana@example.com\xef\xbc\xa0x", NULL, ADDRESS_BAD_DOMAIN},
    {"literal", "Dana@[192.0.2.1]", "dana@[192.0.2.1]", ADDRESS_OK},
    {"literal of IPv6", "dana@[IPv6:2001:DB8::1]", "dana@[ipv6:2001:db8::1]", ADDRESS_OK},
    {"literal of no address", "dana@[example.com]", NULL, ADDRESS_BAD_DOMAIN},
    {"literal with a tail", "dana@[192.0.2.1]x", NULL, ADDRESS_BAD_DOMAIN},
    {"literal left open", "dana@[192.0.2.1", NULL, ADDRESS_BAD_DOMAIN},
};

static void
test_form(gconstpointer data)
{
    gsize i = GPOINTER_TO_SIZE(data);
    AddressProblem problem = ADDRESS_OK;
    g_autofree char *normal = address_normalise(forms[i].written, &problem);

    g_assert_cmpstr(normal, ==, forms[i].normal);
    g_assert_cmpint(problem, ==, forms[i].problem);
    g_assert_cmpstr(address_problem_text(problem), !=, "");
    if (normal == NULL)
        return;
    g_autofree char *again = address_normalise(normal, NULL);
    g_assert_cmpstr(again, ==, normal);
    /* A literal is no domain that a configuration could name. */
    gboolean literal = address_domain(normal)[0] == '[';
    g_autofree char *domain = address_domain_normalise(address_domain(normal));
    g_assert_cmpstr(domain, ==, literal ? NULL : address_domain(normal));
}

/* XB29: an internal domain is one whole name. */
static void
test_domain(void)
{
    static const char *const refused[] = {"",
                                          ".",
                                          "*",
                                          "*.example.com",
                                          ".example.com",
                                          "a..b",
                                          "example.com,example.net",
                                          "a b",
                                          "a@b",
                                          "-a.example"};
    g_autofree char *label = g_strnfill(64, 'a');
    g_autofree char *name = g_strnfill(260, 'a');

    for (gsize i = 0; i < G_N_ELEMENTS(refused); i++)
        g_assert_null(address_domain_normalise(refused[i]));
    g_assert_null(address_domain_normalise(label));
    for (gsize i = 50; i < 260; i += 50)
        name[i] = '.';
    g_assert_null(address_domain_normalise(name));
    name[253] = 0;
    g_autofree char *longest = address_domain_normalise(name);
    g_assert_cmpstr(longest, ==, name);
}

static const struct {
    const char *name;
    const char *text;
    const char *found; /* must all be among what is found, separated by spaces */
} texts[] = {
    {"sentence end", "Write to nora@example.org.", "nora@example.org"},
    {"brackets", "Nora <nora@example.org>, (sam@example.org); [lee@example.net]",
     "nora@example.org sam@example.org lee@example.net"},
    {"mailto", "see mailto:nora@example.org?subject=x", "nora@example.org"},
    {"mailto, percent", "mailto:nora%2Bx%40example.org", "nora+x@example.org"},
    {"quotes", "'nora@example.org' \"sam@example.org\"", "nora@example.org sam@example.org"},
    {"assignment", "email=nora@example.org&x=1", "nora@example.org"},
    {"bold", "*nora@example.org* _sam@example.org_", "nora@example.org sam@example.org"},
    {"bullet", "-nora@example.org", "nora@example.org"},
    {"dots before", "...nora@example.org...", "nora@example.org"},
    {"IDN", "kontakt@bücher.example.org!", "kontakt@xn--bcher-kva.example.org"},
    {"letters without spaces", "请联系nora@example.org谢谢", "nora@example.org"},
    {"invisible letters", "no\u200bra@exam\u00adple.org", "nora@example.org"},
    {"capitals", "NORA@EXAMPLE.ORG", "nora@example.org"},
    {"possessive", "nora@example.org's", "nora@example.org"},
    {"lines", "nora@example.org\nsam@example.org", "nora@example.org sam@example.org"},
    {"nothing", "@ me @home a@ b", ""},
    {"spelled", "nora (at) example.org, sam[at]example.org, lee at example dot net",
     "nora@example.org sam@example.org lee@example.net"},
    {"spelled in capitals", "NORA AT EXAMPLE DOT ORG", "nora@example.org"},
    {"spelled, all of it", "nora [dot] park { at } mail (dot) example <dot> org",
     "nora.park@mail.example.org"},
    {"spelled in German", "nora (ät) example punkt org", "nora@example.org"},
    {"spelled in Spanish", "nora arroba example punto org", "nora@example.org"},
    {"spelled in German capitals", "nora ÄT example PUNKT org", "nora@example.org"},
    {"spelled in French", "nora (arobase) example point org", "nora@example.org"},
    {"spelled in Italian", "nora chiocciola example punto org", "nora@example.org"},
    {"spelled in Dutch", "nora apenstaartje example punt org", "nora@example.org"},
    {"spelled in Danish", "nora snabel-a example punktum org", "nora@example.org"},
    {"spelled in Polish", "nora małpa example kropka org", "nora@example.org"},
    {"spelled in Russian", "nora собака example точка org", "nora@example.org"},
    {"spelled in one word", "nora_at_example_dot_org, sam-at-example-dot-org",
     "nora@example.org sam@example.org"},
    {"spelled in other brackets", "nora 【at】 example⟨dot⟩org", "nora@example.org"},
    {"spelled in other quotes and dashes", "nora “at” example.org, sam –at– example –dot– org",
     "nora@example.org sam@example.org"},
    {"spelled with other spaces", "nora\u00a0[at]\u00a0example\u00a0[dot]\u00a0org",
     "nora@example.org"},
    {"spelled between other signs",
     "a1 _at_ example _dot_ org, b1 -at- example -dot- org, c1 |at| example |dot| org, "
     "d1*at*example*dot*org, e1 \"at\" example \"dot\" org, f1((at))example.org, "
     "g1 [[at]] example.org, h1#at#example.org",
     "a1@example.org b1@example.org c1@example.org d1@example.org e1@example.org "
     "f1@example.org g1@example.org h1@example.org"},
    {"spelled with more words",
     "a1 at sign example dot org, b1 (at-symbol) example (period) org, c1 at example d0t org",
     "a1@example.org b1@example.org c1@example.org"},
    {"spelled as programs do",
     "a1&#64;example&#46;org b1=40example.org c1\\@example.org mailto:d1%2540example.org",
     "a1@example.org b1@example.org c1@example.org d1@example.org"},
    {"spelled in scripts of their own",
     "a1（アット）example.org b1アットマークexample.org c1 골뱅이 example 점 org, "
     "d1 παπάκι example τελεία org, e1 שטרודל example נקודה org, f1 ऐट example डॉट org, "
     "g1 (圈a) example (点) org",
     "a1@example.org b1@example.org c1@example.org d1@example.org e1@example.org "
     "f1@example.org g1@example.org"},
    {"spelled in more languages",
     "a1 kukac example pont org, b1 zavinac example bodka org, c1 miukumauku example piste "
     "org, d1 равлик example крапка org, e1 alfakrøll example punktum org, f1 (et) example "
     "nokta org, g1 afna example pika org",
     "a1@example.org b1@example.org c1@example.org d1@example.org e1@example.org "
     "f1@example.org g1@example.org"},
    {"quoted", "write to \"nora\"@example.org", "nora@example.org"},
    {"a dot of one's own", "nora@example\u2024org", "nora@example nora@example.org"},
    {"spaces around its signs", "nora @ example . org", "nora@example.org"},
    {"spaces around", "nora @ example.org; sam(@)example(.)org",
     "nora@example.org sam@example.org"},
    {"wide signs", "nora＠example．org", "nora@example.org"},
    {"wide dot", "nora@example。org", "nora@example.org"},
    {"broken at the dot", "to nora@example.\norg today", "nora@example.org"},
    {"a soft break with blanks", "nora@exam= \t\r\nple.org", "nora@example.org"},
    {"broken in a quotation", "> sam@exam\r\n> ple.org\n", "sam@example.org"},
    {"next line", "nora at\n  example.org", "nora@example.org"},
    {"no address in a sentence",
     "Meet at noon dot. Look at me. at 10.30 (at) last dot. It is at 3.5 percent.", ""},
    {"no address between names", "Nora et Sam. Nora |at| noon, see *at* all (dot) ##", ""},
    {"no address in a form", "Arrived at: ____ . Paid at [ ] or at { }", ""},
};

static void
test_scan(gconstpointer data)
{
    gsize i = GPOINTER_TO_SIZE(data);
    g_autoptr(GPtrArray) found = g_ptr_array_new_with_free_func(g_free);
    g_auto(GStrv) expected = g_strsplit(texts[i].found, " ", -1);

    address_scan(texts[i].text, found, 100);
    for (char **address = expected; *address != NULL; address++)
        g_assert_true(g_ptr_array_find_with_equal_func(found, *address, g_str_equal, NULL));
    if (expected[0] == NULL)
        g_assert_cmpuint(found->len, ==, 0);
}

/* What stands before an address without a space is part of it in words of Latin letters. */
static void
test_scan_latin(void)
{
    g_autoptr(GPtrArray) found = g_ptr_array_new_with_free_func(g_free);

    address_scan("andr\u00e9nora@example.org andre\u0301nora@example.org", found, 100);
    for (guint i = 0; i < found->len; i++)
        g_assert_cmpstr(g_ptr_array_index(found, i), !=, "nora@example.org");
    g_assert_cmpuint(found->len, ==, 2);
}

static void
test_scan_limit(void)
{
    g_autoptr(GPtrArray) found = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GString) text = g_string_new(NULL);

    address_scan("a1@example.org a1@example.org a1 at example dot org", found, 10);
    g_assert_cmpuint(found->len, ==, 1);
    for (guint i = 0; i < 50; i++)
        g_string_append_printf(text, "a%u@example.org ", i);
    address_scan(text->str, found, 10);
    g_assert_cmpuint(found->len, ==, 10);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (gsize i = 0; i < G_N_ELEMENTS(forms); i++) {
        g_autofree char *path = g_strconcat("/address/form/", forms[i].name, NULL);
        g_test_add_data_func(path, GSIZE_TO_POINTER(i), test_form);
    }
    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
        g_autofree char *path = g_strconcat("/address/scan/", texts[i].name, NULL);
        g_test_add_data_func(path, GSIZE_TO_POINTER(i), test_scan);
    }
    g_test_add_func("/address/domain XB29", test_domain);
    g_test_add_func("/address/scan Latin", test_scan_latin);
    g_test_add_func("/address/scan limit", test_scan_limit);
    return g_test_run();
}
