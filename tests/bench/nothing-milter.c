/* A milter that does nothing: nothing-milter SOCKET [quiet] [quarantine] [discard]
 *
 * The yardstick: plain libmilter, the steps that exeat-milter asks for and the end of the
 * header, each answered with "continue". quiet: steps without an answer are agreed on.
 * quarantine, discard: what is answered at the end of the message. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <libmilter/mfapi.h>

static int quiet, quarantine;
static sfsistat last = SMFIS_CONTINUE;

static sfsistat
step(void)
{
    return quiet ? SMFIS_NOREPLY : SMFIS_CONTINUE;
}

static sfsistat
on_negotiate(SMFICTX *ctx, unsigned long actions, unsigned long steps, unsigned long unused1,
             unsigned long unused2, unsigned long *actions_out, unsigned long *steps_out,
             unsigned long *unused1_out, unsigned long *unused2_out)
{
    (void)ctx;
    (void)unused1;
    (void)unused2;
    *actions_out = actions & SMFIF_QUARANTINE;
    *steps_out = SMFIP_NOHELO | SMFIP_NOUNKNOWN;
    if (quiet)
        *steps_out |= SMFIP_NR_CONN | SMFIP_NR_MAIL | SMFIP_NR_RCPT | SMFIP_NR_DATA |
                      SMFIP_NR_HDR | SMFIP_NR_EOH | SMFIP_NR_BODY;
    *steps_out &= steps;
    *unused1_out = *unused2_out = 0;
    return SMFIS_CONTINUE;
}

static sfsistat
on_connect(SMFICTX *ctx, char *host, struct sockaddr *address)
{
    (void)ctx;
    (void)host;
    (void)address;
    return step();
}

static sfsistat
on_words(SMFICTX *ctx, char **words)
{
    (void)ctx;
    (void)words;
    return step();
}

static sfsistat
on_step(SMFICTX *ctx)
{
    (void)ctx;
    return step();
}

static sfsistat
on_header(SMFICTX *ctx, char *name, char *value)
{
    (void)ctx;
    (void)name;
    (void)value;
    return step();
}

static sfsistat
on_body(SMFICTX *ctx, unsigned char *bytes, size_t length)
{
    (void)ctx;
    (void)bytes;
    (void)length;
    return step();
}

static sfsistat
on_end(SMFICTX *ctx)
{
    if (quarantine && smfi_quarantine(ctx, (char *)"bench") != MI_SUCCESS)
        return SMFIS_TEMPFAIL;
    return last;
}

static sfsistat
on_over(SMFICTX *ctx)
{
    (void)ctx;
    return SMFIS_CONTINUE;
}

static struct smfiDesc description = {
    .xxfi_name = (char *)"nothing",
    .xxfi_version = SMFI_VERSION,
    .xxfi_flags = SMFIF_QUARANTINE,
    .xxfi_connect = on_connect,
    .xxfi_envfrom = on_words,
    .xxfi_envrcpt = on_words,
    .xxfi_data = on_step,
    .xxfi_header = on_header,
    .xxfi_eoh = on_step,
    .xxfi_body = on_body,
    .xxfi_eom = on_end,
    .xxfi_abort = on_over,
    .xxfi_close = on_over,
    .xxfi_negotiate = on_negotiate,
};

int
main(int argc, char **argv)
{
    for (int i = 2; i < argc; i++) {
        quiet |= strcmp(argv[i], "quiet") == 0;
        quarantine |= strcmp(argv[i], "quarantine") == 0;
        if (strcmp(argv[i], "discard") == 0)
            last = SMFIS_DISCARD;
    }
    umask(0);
    if (argc < 2 || smfi_setconn(argv[1]) != MI_SUCCESS ||
        smfi_register(description) != MI_SUCCESS || smfi_opensocket(1) != MI_SUCCESS) {
        fprintf(stderr, "usage: nothing-milter SOCKET [quiet] [quarantine] [discard]\n");
        return EXIT_FAILURE;
    }
    return smfi_main() == MI_SUCCESS ? EXIT_SUCCESS : EXIT_FAILURE;
}
