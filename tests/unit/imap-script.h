/* imap-script.h - a server that says what a test says, in place of lib/imap-stream.c */
#pragma once

#include "lib/imap-private.h"

#include <string.h>

#include "lib/error.h"

struct _ImapStream {
    gsize at;
};

static GString *script;    /* what the server says, whatever it is told */
static gsize script_piece; /* bytes that arrive at once; 0: all */
static GString *told;

ImapStream *
imap_stream_open(const ImapServer *server, GError **error)
{
    (void)server, (void)error;
    return g_new0(ImapStream, 1);
}

void
imap_stream_free(ImapStream *stream)
{
    g_free(stream);
}

gboolean
imap_stream_send(ImapStream *stream, const char *bytes, gsize length, gint64 deadline,
                 GError **error)
{
    (void)stream, (void)deadline, (void)error;
    g_string_append_len(told, bytes, (gssize)length);
    return TRUE;
}

gsize
imap_stream_receive(ImapStream *stream, char *bytes, gsize size, gint64 deadline,
                    GError **error)
{
    gsize got = MIN(size, script->len - stream->at);

    (void)deadline;
    if (got == 0)
        g_set_error(error, EXEAT_ERROR, ERROR_TEMP, "the connection is lost");
    if (script_piece != 0)
        got = MIN(got, script_piece);
    memcpy(bytes, script->str + stream->at, got);
    stream->at += got;
    return got;
}

#define HELLO "* CAPABILITY IMAP4rev1\r\nE1 OK\r\n"

/* Connects to a server that says HELLO and then this. */
static inline Imap *
connect_to(const char *says)
{
    g_autoptr(GError) error = NULL;

    g_string_assign(script, HELLO);
    g_string_append(script, says);
    g_string_truncate(told, 0);
    Imap *imap = imap_connect(&(ImapServer){0}, &error);
    g_assert_no_error(error);
    return imap;
}
