/* The least that an import by gmime could do: gmime-heads FOLDER... reads the header of
 * every file in the folders, has gmime parse it, asks for ids and addresses, and keeps
 * nothing. Prints how many there were. */
#include <gmime/gmime.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define HEAD_MAX 8192

/* The length of the header in the file; 0 when it cannot be read. */
static gsize
read_head(const char *path, char *head)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, head, HEAD_MAX) : 0;

    if (fd >= 0)
        close(fd);
    if (got <= 0)
        return 0;
    const char *end = memmem(head, (gsize)got, "\n\n", 2);
    return end != NULL ? (gsize)(end + 2 - head) : (gsize)got;
}

static gboolean
parse(const char *head, gsize length)
{
    GMimeStream *stream = g_mime_stream_mem_new_with_buffer(head, length);
    GMimeParser *parser = g_mime_parser_new_with_stream(stream);
    GMimeMessage *message = g_mime_parser_construct_message(parser, NULL);
    InternetAddressList *everybody =
        message != NULL ? g_mime_message_get_all_recipients(message) : NULL;
    gboolean parsed = everybody != NULL && g_mime_message_get_message_id(message) != NULL;

    g_clear_object(&everybody);
    g_clear_object(&message);
    g_object_unref(parser);
    g_object_unref(stream);
    return parsed;
}

static guint
parse_folder(const char *path)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GDir) folder = g_dir_open(path, 0, &error);
    char head[HEAD_MAX];
    const char *name;
    guint parsed = 0;

    g_assert_no_error(error);
    while ((name = g_dir_read_name(folder)) != NULL) {
        g_autofree char *file = g_build_filename(path, name, NULL);
        gsize length = read_head(file, head);
        parsed += length > 0 && parse(head, length);
    }
    return parsed;
}

int
main(int count, char **words)
{
    guint parsed = 0;

    g_mime_init();
    for (int i = 1; i < count; i++)
        parsed += parse_folder(words[i]);
    printf("%u\n", parsed);
    return 0;
}
