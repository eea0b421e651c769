#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "cli/command.h"
#include "cli/doctor.h"
#include "cli/output.h"
#include "lib/escape.h"

#define CONFIG_FILE    SYSCONFDIR "/exeat/exeat.conf"
#define POSTFIX_FOLDER "/etc/postfix"

enum { PLACE_COLUMNS = 32 };

static const char *const STATES[] = {
    [FINDING_FAULT] = "FAULT", [FINDING_UNKNOWN] = "unknown", [FINDING_OK] = "ok"};

/* What postconf(1) says; NULL after a finding. No shell, and nothing of our environment. */
static char *
ask_postconf(const char *folder, const char *option, const char *const *names,
             GPtrArray *findings)
{
    static char *const ENVIRONMENT[] = {
        (char *)"PATH=/usr/sbin:/usr/local/sbin:/sbin:/usr/bin", (char *)"LANG=C", NULL};
    g_autoptr(GPtrArray) words = g_ptr_array_new();
    g_autoptr(GError) error = NULL;
    g_autofree char *said = NULL;
    g_autofree char *complaint = NULL;
    int status;

    for (const char *const *word =
             (const char *const[]){"postconf", "-c", folder, option, NULL};
         *word != NULL; word++)
        g_ptr_array_add(words, (gpointer)*word);
    for (guint i = 0; names != NULL && names[i] != NULL; i++)
        g_ptr_array_add(words, (gpointer)names[i]);
    g_ptr_array_add(words, NULL);
    if (g_spawn_sync("/", (char **)words->pdata, (char **)ENVIRONMENT,
                     G_SPAWN_SEARCH_PATH_FROM_ENVP, NULL, NULL, &said, &complaint, &status,
                     &error) &&
        g_spawn_check_wait_status(status, &error))
        return g_steal_pointer(&said);
    findings_add(findings, FINDING_FAULT, "postconf",
                 "Postfix's configuration in %s cannot be read: %s %s", folder, error->message,
                 complaint != NULL ? g_strstrip(complaint) : "");
    return NULL;
}

/* Unix paths and hosts of every next hop that is a gated door, each once. */
static GPtrArray *
list_doors(const Config *config)
{
    GPtrArray *doors = g_ptr_array_new();

    for (guint i = 0; i <= config->accounts->len; i++) {
        const NextHop *hop =
            i == 0 ? &config->hop : &((const Account *)config->accounts->pdata[i - 1])->hop;
        if (hop->gated && hop->target != NULL && *hop->target != '\0' &&
            !g_ptr_array_find_with_equal_func(doors, hop->target, g_str_equal, NULL))
            g_ptr_array_add(doors, hop->target);
    }
    g_ptr_array_add(doors, NULL);
    return doors;
}

static void
look_at_postfix(const Session *session, const Config *config, const char *folder,
                GPtrArray *findings)
{
    const char *except = session_option(session, "except");
    g_auto(GStrv) vouched = g_strsplit(except != NULL ? except : "", ",", -1);
    g_autoptr(GPtrArray) doors = list_doors(config);
    g_autofree char *services = ask_postconf(folder, "-M", NULL, findings);
    g_autofree char *overrides =
        services != NULL ? ask_postconf(folder, "-Px", NULL, findings) : NULL;
    g_autofree char *settings =
        overrides != NULL ? ask_postconf(folder, "-x", doctor_settings(), findings) : NULL;

    if (settings == NULL)
        return;
    const PostfixLook look = {services,
                              overrides,
                              settings,
                              config->milter_socket,
                              (const char *const *)doors->pdata,
                              (const char *const *)vouched};
    doctor_postfix(&look, findings);
}

static void
look_at_ports(GPtrArray *findings)
{
    g_autofree char *four = NULL;
    g_autofree char *six = NULL;

    g_file_get_contents("/proc/net/tcp", &four, NULL, NULL);
    g_file_get_contents("/proc/net/tcp6", &six, NULL, NULL);
    if (four == NULL && six == NULL) {
        findings_add(findings, FINDING_UNKNOWN, "ports", "/proc/net/tcp cannot be read");
        return;
    }
    g_autofree char *both = g_strconcat(four != NULL ? four : "", six, NULL);
    doctor_ports(both, findings);
}

static int
print_json(const GPtrArray *findings, guint faults)
{
    GVariantBuilder list, answer;

    g_variant_builder_init(&list, G_VARIANT_TYPE("aa{sv}"));
    for (guint i = 0; i < findings->len; i++) {
        const Finding *finding = findings->pdata[i];
        g_variant_builder_open(&list, G_VARIANT_TYPE_VARDICT);
        g_variant_builder_add(&list, "{sv}", "place", g_variant_new_string(finding->place));
        g_variant_builder_add(&list, "{sv}", "state",
                              g_variant_new_string(STATES[finding->state]));
        g_variant_builder_add(&list, "{sv}", "text", g_variant_new_string(finding->text));
        g_variant_builder_close(&list);
    }
    g_variant_builder_init(&answer, G_VARIANT_TYPE_VARDICT);
    g_variant_builder_add(&answer, "{sv}", "findings", g_variant_builder_end(&list));
    g_variant_builder_add(&answer, "{sv}", "faults", g_variant_new_uint32(faults));
    g_autoptr(GVariant) whole = g_variant_ref_sink(g_variant_builder_end(&answer));
    return command_print_json(whole);
}

static void
print_lines(const GPtrArray *findings)
{
    guint widest = 0;

    for (guint i = 0; i < findings->len; i++) {
        const Finding *finding = findings->pdata[i];
        widest = MIN(MAX(widest, output_width(finding->place)), PLACE_COLUMNS);
    }
    for (guint i = 0; i < findings->len; i++) {
        const Finding *finding = findings->pdata[i];
        g_autofree char *place = escape_line(finding->place);
        g_autofree char *text = escape_line(finding->text);
        printf("%-7s  %-*s  %s\n", STATES[finding->state], (int)widest, place, text);
    }
}

static void
make_valid(GPtrArray *findings)
{
    for (guint i = 0; i < findings->len; i++) {
        Finding *finding = findings->pdata[i];
        char *place = g_utf8_make_valid(finding->place, -1);
        char *text = g_utf8_make_valid(finding->text, -1);
        g_free(finding->place);
        g_free(finding->text);
        finding->place = place;
        finding->text = text;
    }
}

static guint
count_faults(const GPtrArray *findings)
{
    guint faults = 0;

    for (guint i = 0; i < findings->len; i++)
        faults += ((const Finding *)findings->pdata[i])->state == FINDING_FAULT;
    return faults;
}

int
cmd_doctor(const Session *session, char **words)
{
    const char *folder = session_option(session, "postfix-config");
    const char *outside = session_option(session, "outside");
    g_autoptr(GPtrArray) findings = findings_new();
    g_autoptr(GError) error = NULL;
    g_autoptr(Config) config =
        config_read(session->config != NULL ? session->config : CONFIG_FILE, FALSE, &error);
    int status = EX_OK;

    (void)words;
    if (config == NULL) {
        g_autofree char *safe = escape_line(error->message);
        fprintf(stderr, "exeat: %s\n", safe);
        return EX_CONFIG;
    }
    folder = folder != NULL ? folder : POSTFIX_FOLDER;
    look_at_postfix(session, config, folder, findings);
    doctor_daemons(config, findings);
    doctor_sender(config, findings);
    if (!doctor_agents(config, folder, outside, findings))
        return command_misused(outside, "a host that is found, or host:port,port");
    look_at_ports(findings);
    make_valid(findings);
    guint faults = count_faults(findings);
    if (session->json)
        status = print_json(findings, faults);
    else
        print_lines(findings);
    return status != EX_OK ? status : faults > 0 ? EX_DATAERR : EX_OK;
}
