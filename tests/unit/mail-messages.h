/* mail-messages.h - messages for the tests of lib/mail, from text to descriptor */
#pragma once

#include "lib/mail.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static inline Extract *
read_bytes(const char *bytes, gsize length)
{
    g_autoptr(GError) error = NULL;
    FILE *file = tmpfile();

    g_assert_nonnull(file);
    g_assert_cmpint(pwrite(fileno(file), bytes, length, 0), ==, length);
    Extract *extract = mail_extract(fileno(file), &error);
    g_assert_no_error(error);
    g_assert_nonnull(extract);
    fclose(file);
    return extract;
}

/* The message with the line ends it has on the way: each line feed becomes CR LF. */
static inline char *
with_crlf(const char *text)
{
    g_autoptr(GString) bytes = g_string_new(NULL);

    for (const char *p = text; *p != 0; p++) {
        if (*p == '\n')
            g_string_append_c(bytes, '\r');
        g_string_append_c(bytes, *p);
    }
    return g_strdup(bytes->str);
}

/* A message of owner@example.com to nora@example.org; rest is more fields, an empty line, a
 * body. */
static inline Extract *
read_message(const char *rest)
{
    g_autofree char *text = g_strconcat("From: Olivia Park <owner@example.com>\n"
                                        "To: nora@example.org\n"
                                        "Date: Mon, 16 Nov 2026 09:30:00 +0000\n"
                                        "Message-ID: <m1@example.com>\n",
                                        rest, NULL);
    g_autofree char *bytes = with_crlf(text);

    return read_bytes(bytes, strlen(bytes));
}
