/* config-files.h - an exeat.conf and its policy in a folder of their own */
#pragma once

#include "lib/config.h"

#include <string.h>
#include <sys/stat.h>

#include <glib/gstdio.h>

#define POLICY  "hold \"all\" if recipients > 0\n"
#define GENERAL "[exeat]\nmilter-user = 4001\nnext-hop = inet:127.0.0.1:10025\n"
#define ACCOUNT                                                                               \
    "[account box]\naddresses = owner@example.com\nagent-logins = Agent@example.com\n"        \
    "internal-domains = example.com\npolicy = box.policy\n"
#define SECOND                                                                                \
    "[account two]\ninternal-domains = example.com\npolicy = box.policy\n"                    \
    "addresses = two@example.com\nagent-logins = two\n"

typedef struct {
    char *folder;
    char *conf;
    char *policy;
} Files;

static inline void
write_file(const char *path, const char *text, gsize length, mode_t mode)
{
    g_autoptr(GError) error = NULL;

    g_file_set_contents(path, text, (gssize)length, &error);
    g_assert_no_error(error);
    g_assert_cmpint(chmod(path, mode), ==, 0);
}

static inline void
files_begin(Files *files)
{
    g_autoptr(GError) error = NULL;

    files->folder = g_dir_make_tmp("exeat-config-XXXXXX", &error);
    g_assert_no_error(error);
    files->conf = g_build_filename(files->folder, "exeat.conf", NULL);
    files->policy = g_build_filename(files->folder, "box.policy", NULL);
    write_file(files->policy, POLICY, strlen(POLICY), 0600);
}

static inline void
files_end(Files *files)
{
    g_unlink(files->conf);
    g_unlink(files->policy);
    g_assert_cmpint(g_rmdir(files->folder), ==, 0);
    g_free(files->folder);
    g_free(files->conf);
    g_free(files->policy);
}

static inline Config *
read_text(const Files *files, const char *text, GError **error)
{
    write_file(files->conf, text, strlen(text), 0600);
    return config_read(files->conf, TRUE, error);
}
