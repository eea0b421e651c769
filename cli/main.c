/* exeat - the command of approvers and admins: exeat(1) */
#include <config.h>

#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "cli/command.h"
#include "lib/escape.h"
#include "lib/keyfile.h"

#define DEFAULT_CONFIG SYSCONFDIR "/exeat/exeat.conf"
#define DEFAULT_SOCKET RUNSTATEDIR "/exeat/relay.sock"

typedef struct {
    const char *name;
    const char *words; /* as the help writes them */
    const char *help;
    const char *options; /* names of those below that only some commands take */
    int least;           /* words */
    int most;
    int (*run)(const Session *session, char **words);
} Command;

static const Command COMMANDS[] = {
    {"list", "", "what waits or failed; with --all also what is done", "all", 0, 0, cmd_list},
    {"show", "ID", "everything about one item, its text included", "", 1, 1, cmd_show},
    {"approve", "ID DIGEST", "let exactly this message leave, once", "", 2, 2, cmd_approve},
    {"now", "ID DIGEST", "let what is delayed leave without waiting", "", 2, 2, cmd_now},
    {"reject", "ID[,ID...] REASON...", "never let it leave; the agent can ask why", "", 2,
     G_MAXINT, cmd_reject},
    {"resolve", "ID sent|failed", "say what became of an uncertain item", "", 2, 2,
     cmd_resolve},
    {"veto", "ID...", "stop what is delayed or approved", "", 1, G_MAXINT, cmd_veto},
    {"edit", "ID", "write it anew, as yourself; the new one waits", "", 1, 1, cmd_edit},
    {"withdraw", "ID [WHY...]", "take back what waits, as the agent", "", 1, G_MAXINT,
     cmd_withdraw},
    {"cancel", "ID", "stop what waits of a conversation; tell what has left", "", 1, 1,
     cmd_cancel},
    {"explain", "ID", "every rule: why it applied to an item or not", "what-if", 1, 1,
     cmd_explain},
    {"lock", "ID", "let nothing of a conversation go by itself any more", "", 1, 1, cmd_lock},
    {"unlock", "ID", "give a conversation back to the agent", "", 1, 1, cmd_unlock},
    {"audit", "[verify [FILE] | export FILE]", "what was decided and done, by whom, and why",
     "account approver confirmed grep item key kind since tier", 0, 2, cmd_audit},
    {"export", "ID FOLDER", "write the envelope and the bytes of an item into a new folder",
     "", 2, 2, cmd_export},
    {"digest", "MESSAGE", "compute the digest of what was exported", "envelope", 1, 1,
     cmd_digest},
    {"history", "[vouch|forget] ADDRESS | accept",
     "why an address is known or not; change that", "account", 1, 2, cmd_history},
    {"import", "PATH...", "learn whom the human writes to from mailboxes",
     "account ca-file dry-run min-times only-replied password-file received sent "
     "sent-labels since",
     1, G_MAXINT, cmd_import},
    {"policy", "check|test|classes FILE... | replay",
     "whether a policy is good, and what it does", "account policy since", 1, G_MAXINT,
     cmd_policy},
    {"reload", "", "have the relay read exeat.conf and the policies again", "", 0, 0,
     cmd_reload},
    {"stop", "[ACCOUNT] WHY...", "let nothing leave from now on", "", 1, G_MAXINT, cmd_stop},
    {"start", "[ACCOUNT]", "end a stop", "", 0, 1, cmd_start},
    {"account", "suspend|resume|revoke NAME [WHY...]", "switch an account off or on", "", 2,
     G_MAXINT, cmd_account},
    {"passwd", "USER", "make a line for the file of approver-passwords", "", 1, 1, cmd_passwd},
    {"stats", "", "whether the rules still fit: shares, waits, attention", "account weeks", 0,
     0, cmd_stats},
    {"doctor", "", "whether all mail really passes the gate", "except outside postfix-config",
     0, 0, cmd_doctor},
    {"status", "[ID]", "how the relay and the accounts are; what became of a message", "", 0,
     1, cmd_status},
};

/* What only some commands take has no letter, except all. */
enum { NO_LETTER = 256, WHAT_IF };

static const struct option OPTIONS[] = {
    {"config", required_argument, NULL, 'c'},
    {"socket", required_argument, NULL, 's'},
    {"json", no_argument, NULL, 'j'},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},
    {"all", no_argument, NULL, 'a'},
    {"account", required_argument, NULL, NO_LETTER},
    {"approver", required_argument, NULL, NO_LETTER},
    {"confirmed", no_argument, NULL, NO_LETTER},
    {"dry-run", no_argument, NULL, NO_LETTER},
    {"envelope", required_argument, NULL, NO_LETTER},
    {"except", required_argument, NULL, NO_LETTER},
    {"grep", required_argument, NULL, NO_LETTER},
    {"item", required_argument, NULL, NO_LETTER},
    {"key", required_argument, NULL, NO_LETTER},
    {"kind", required_argument, NULL, NO_LETTER},
    {"min-times", required_argument, NULL, NO_LETTER},
    {"only-replied", no_argument, NULL, NO_LETTER},
    {"ca-file", required_argument, NULL, NO_LETTER},
    {"outside", required_argument, NULL, NO_LETTER},
    {"policy", required_argument, NULL, NO_LETTER},
    {"postfix-config", required_argument, NULL, NO_LETTER},
    {"password-file", required_argument, NULL, NO_LETTER},
    {"received", no_argument, NULL, NO_LETTER},
    {"sent", no_argument, NULL, NO_LETTER},
    {"sent-labels", required_argument, NULL, NO_LETTER},
    {"since", required_argument, NULL, NO_LETTER},
    {"tier", required_argument, NULL, NO_LETTER},
    {"weeks", required_argument, NULL, NO_LETTER},
    {"what-if", required_argument, NULL, WHAT_IF},
    {NULL, 0, NULL, 0},
};

typedef struct {
    Session session;
    GPtrArray *suppositions;
    const char *config; /* -c; NULL when not given */
    gboolean empty;     /* an option has an empty value, which is as bad as an empty word */
    gboolean help;
    gboolean version;
} Options;

static void
print_help(void)
{
    puts("usage: exeat [-c FILE | --socket PATH] [--json] COMMAND ...\n");
    for (gsize i = 0; i < G_N_ELEMENTS(COMMANDS); i++) {
        g_autofree char *usage = g_strjoin(" ", COMMANDS[i].name, COMMANDS[i].words, NULL);
        printf("  %-22s %s\n", usage, COMMANDS[i].help);
    }
    puts("\n  -c, --config FILE     take the socket's path from this exeat.conf\n"
         "      --socket PATH     the socket of exeat-relay; else EXEAT_SOCKET, else what\n"
         "                        " DEFAULT_CONFIG " says, or\n"
         "                        " DEFAULT_SOCKET "\n"
         "      --json            print the relay's answer as JSON\n"
         "  -a, --all             list: also what is done\n"
         "      --account NAME    audit, history, import, policy replay: of one account\n"
         "      --kind KIND, --item ID, --tier TIER, --approver NAME, --confirmed, --grep "
         "WORD\n"
         "                        audit: only such entries\n"
         "      --envelope FILE   digest: not the envelope.json beside the message\n"
         "      --key FILE        audit verify FILE: the relay's key\n"
         "      --policy FILE     policy replay: by this one\n"
         "      --weeks N         stats: of so many weeks\n"
         "      --what-if FACT=VALUE  explain: as if the item had this fact, too\n"
         "      --dry-run         import: only list who would become known\n"
         "      --min-times N     import: only who was written to so often\n"
         "      --only-replied    import: only who wrote, too\n"
         "      --sent, --received  import: what the paths hold, whatever their names\n"
         "      --sent-labels LABEL,...  import: which X-Gmail-Labels were sent\n"
         "      --since DATE      audit, import, policy replay: only from that day on,\n"
         "                        as 2026-11-29\n"
         "      --password-file FILE  import: the password for an imaps:// address\n"
         "      --ca-file FILE    import: the certificates to trust there\n"
         "      --outside HOST[:PORT,...]  doctor: a mail server no agent may reach\n"
         "      --except NAME,...  doctor: listeners you answer for yourself\n"
         "      --postfix-config FOLDER  doctor: not /etc/postfix\n"
         "      --help, --version\n\n"
         "The manual is exeat(1).");
}

static int
misused(const char *what)
{
    fprintf(stderr, "exeat: %s; “exeat --help” lists the commands\n", what);
    return EX_USAGE;
}

static void
keep_option(Options *options, const char *name, const char *value)
{
    g_hash_table_insert(options->session.options, (gpointer)name, (gpointer)value);
}

/* "-x", "--xyz", or an option without its value. */
static int
misused_option(char **argv)
{
    g_autofree char *letter = g_strdup_printf("-%c", optopt);
    gboolean named = g_str_has_prefix(argv[optind - 1], "--");
    g_autofree char *safe = escape_line(
        !named && optopt < 128 && g_ascii_isgraph(optopt) ? letter : argv[optind - 1]);
    g_autofree char *what = g_strdup_printf(
        "“%s” is no option, or has no value; a word that begins with - stands after --", safe);

    return misused(what);
}

/* FALSE after a message. */
static gboolean
parse_options(int argc, char **argv, Options *options)
{
    int letter, number;

    opterr = 0; /* getopt would name the program by its path */
    while ((letter = getopt_long(argc, argv, ":c:ah", OPTIONS, &number)) != -1) {
        switch (letter) {
        case 'c':
            options->config = optarg;
            break;
        case 's':
            options->session.socket = optarg;
            break;
        case 'j':
            options->session.json = TRUE;
            break;
        case 'h':
            options->help = TRUE;
            break;
        case 'V':
            options->version = TRUE;
            break;
        case 'a':
            keep_option(options, "all", "");
            break;
        case WHAT_IF: /* may stand several times */
            keep_option(options, "what-if", optarg);
            g_ptr_array_add(options->suppositions, optarg);
            break;
        case NO_LETTER:
            if (optarg != NULL && *optarg == '\0')
                options->empty = TRUE;
            keep_option(options, OPTIONS[number].name, optarg != NULL ? optarg : "");
            break;
        default:
            misused_option(argv);
            return FALSE;
        }
    }
    return TRUE;
}

static const Command *
find_command(const char *name)
{
    for (gsize i = 0; i < G_N_ELEMENTS(COMMANDS); i++)
        if (g_str_equal(name, COMMANDS[i].name))
            return &COMMANDS[i];
    return NULL;
}

/* Options that the command does not take, or no text. */
static gboolean
check_options(const Command *command, GHashTable *options)
{
    g_auto(GStrv) taken = g_strsplit(command->options, " ", -1);
    GHashTableIter iter;
    gpointer name, value;

    g_hash_table_iter_init(&iter, options);
    while (g_hash_table_iter_next(&iter, &name, &value))
        if (!g_strv_contains((const char *const *)taken, name) ||
            !g_utf8_validate(value, -1, NULL))
            return FALSE;
    return TRUE;
}

/* Words that are too few, too many, or no text. An empty one is what a script makes of a
 * variable without a value: it must not pass for "all accounts" or "the folder I am in". */
static gboolean
check_words(const Command *command, int count, char **words)
{
    gboolean good = count >= command->least && count <= command->most;

    for (int i = 0; i < count; i++)
        good = good && *words[i] != '\0' && g_utf8_validate(words[i], -1, NULL);
    return good;
}

/* The socket's path from a configuration, of which an approver may be allowed to read no more.
 */
static char *
socket_of_config(const char *path, GError **error)
{
    g_autoptr(KeyFile) file = keyfile_read(path, error);

    if (file == NULL)
        return NULL;
    const KeyGroup *group = keyfile_group(file, "exeat");
    const KeyLine *line = group != NULL ? keygroup_line(group, "relay-socket") : NULL;
    return g_strdup(line != NULL ? line->text : DEFAULT_SOCKET);
}

/* "exeat list [--all]" */
static char *
describe_usage(const Command *command)
{
    g_autoptr(GString) usage = g_string_new("exeat ");
    g_auto(GStrv) names = g_strsplit(command->options, " ", -1);

    g_string_append(usage, command->name);
    for (guint i = 0; names[i] != NULL; i++)
        for (const struct option *option = OPTIONS; option->name != NULL; option++)
            if (g_str_equal(option->name, names[i]))
                g_string_append_printf(usage, " [--%s%s]", option->name,
                                       option->has_arg ? " …" : "");
    if (*command->words != '\0')
        g_string_append_printf(usage, " %s", command->words);
    return g_string_free(g_steal_pointer(&usage), FALSE);
}

/* A configuration that is named has to be good. The usual one need not: "exeat stop" must not
 * wait until somebody has mended it. NULL: an error. */
static char *
find_socket(const Options *options, GError **error)
{
    const char *named = g_getenv("EXEAT_SOCKET");

    if (options->session.socket != NULL)
        return g_strdup(options->session.socket);
    if (options->config != NULL)
        return socket_of_config(options->config, error);
    if (named != NULL)
        return g_strdup(named);
    char *configured = socket_of_config(DEFAULT_CONFIG, NULL);
    return configured != NULL ? configured : g_strdup(DEFAULT_SOCKET);
}

static int
run(const Command *command, Options *options, char **words)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *socket = find_socket(options, &error);

    if (error != NULL) {
        g_autofree char *safe = escape_line(error->message);
        fprintf(stderr, "exeat: %s\n", safe);
        return EX_CONFIG;
    }
    options->session.socket = socket;
    options->session.config = options->config;
    return command->run(&options->session, words);
}

static int
choose(int argc, char **argv)
{
    g_autoptr(GHashTable) given = g_hash_table_new(g_str_hash, g_str_equal);
    g_autoptr(GPtrArray) suppositions = g_ptr_array_new();
    Options options = {.session = {.options = given, .suppositions = suppositions},
                       .suppositions = suppositions};

    if (!parse_options(argc, argv, &options))
        return EX_USAGE;
    if (options.version) {
        puts(PACKAGE_STRING);
        return EX_OK;
    }
    if (options.help) {
        print_help();
        return EX_OK;
    }
    if (optind == argc)
        return misused("there is no command");
    const Command *command = find_command(argv[optind]);
    if (command == NULL)
        return misused("there is no such command");
    if (options.empty || !check_words(command, argc - optind - 1, argv + optind + 1) ||
        !check_options(command, options.session.options)) {
        g_autofree char *usage = describe_usage(command);
        g_autofree char *what =
            g_strdup_printf("%s does not take this, it takes: %s", command->name, usage);
        return misused(what);
    }
    return run(command, &options, argv + optind + 1);
}

int
main(int argc, char **argv)
{
    int status = choose(argc, argv);

    /* A preview that was cut off by a full disk or pipe must not look like a whole one. */
    if (fflush(stdout) != 0 || ferror(stdout)) {
        perror("exeat: standard output");
        return EX_IOERR;
    }
    return status;
}
