/* mailbox-walk.c - the folders at and below a path
 *
 * They are found first and opened one by one later, each component of a path without following
 * a symbolic link: whoever owns the mailbox must not lead root elsewhere in between. */
#include "lib/mailbox-private.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/error.h"
#include "lib/pread.h"

#define DEPTH_MAX   32
#define SNIFF_BYTES 2048
#define OPEN_FLAGS  (O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)

typedef enum {
    FOUND_MBOX,
    FOUND_FILE,
    FOUND_DIRECTORY,
    FOUND_MAILDIR,
    FOUND_NOTHING
} FoundKind;

typedef struct {
    FoundKind kind;
    FolderRole role;
    gboolean labelled;
    char *below;   /* the root; "" is the root itself */
    char *problem; /* of FOUND_NOTHING */
} Found;

typedef struct {
    char *root;
    int fd;
    GPtrArray *found; /* of Found * */
    guint next;
    char *path; /* of the folder stepped to */
} Walk;

static void walk_directory(Walk *walk, int fd, const char *below, FolderRole role,
                           guint depth);

static void
found_free(gpointer data)
{
    Found *found = data;

    g_free(found->below);
    g_free(found->problem);
    g_free(found);
}

static Found *
add_found(Walk *walk, FoundKind kind, const char *below, FolderRole role)
{
    Found *found = g_new0(Found, 1);

    found->kind = kind;
    found->role = role;
    found->below = g_strdup(below);
    g_ptr_array_add(walk->found, found);
    return found;
}

static void
add_problem(Walk *walk, const char *below)
{
    const char *problem = g_strerror(errno);

    add_found(walk, FOUND_NOTHING, below, FOLDER_OTHER)->problem = g_strdup(problem);
}

static FolderRole
role_below(const char *name, FolderRole above)
{
    FolderRole own = folder_role(name);

    return own != FOLDER_OTHER ? own : above;
}

static gint
compare_names(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The names in a directory, sorted; NULL with errno. */
static GPtrArray *
list_directory(int fd)
{
    DIR *stream = mailbox_open_names(fd);
    struct dirent *found;

    if (stream == NULL)
        return NULL;
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    while ((found = readdir(stream)) != NULL)
        if (!g_str_equal(found->d_name, ".") && !g_str_equal(found->d_name, ".."))
            g_ptr_array_add(names, g_strdup(found->d_name));
    closedir(stream);
    g_ptr_array_sort(names, compare_names);
    return names;
}

static gboolean
is_directory(int fd, const char *name)
{
    struct stat status;

    return fstatat(fd, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(status.st_mode);
}

/* FALSE when the file is no mbox. */
static gboolean
add_mbox(Walk *walk, int fd, const char *below, FolderRole role)
{
    char bytes[SNIFF_BYTES];
    gssize got = pread_most(fd, bytes, sizeof bytes, 0, PREAD_UNKNOWN);

    gsize lead = got > 0 ? mailbox_lead(bytes, (gsize)got) : 0;
    if (got <= 0 || !mailbox_is_mbox(bytes + lead, (gsize)got - lead))
        return FALSE;
    add_found(walk, FOUND_MBOX, below, role)->labelled =
        mailbox_is_takeout(bytes + lead, (gsize)got - lead);
    return TRUE;
}

static void
walk_name(Walk *walk, int directory, const char *name, const char *below, FolderRole role,
          guint depth)
{
    g_autofree char *path = *below != 0 ? g_build_filename(below, name, NULL) : g_strdup(name);
    FolderRole own = role_below(name, role);
    struct stat status;
    int fd = openat(directory, name, OPEN_FLAGS);

    if (fd < 0 && errno == ELOOP)
        return; /* a symbolic link */
    if (fd < 0 || fstat(fd, &status) != 0)
        add_problem(walk, path);
    else if (S_ISDIR(status.st_mode))
        walk_directory(walk, fd, path, own, depth + 1);
    else if (S_ISREG(status.st_mode))
        add_mbox(walk, fd, path, own);
    if (fd >= 0)
        close(fd);
}

static void
walk_directory(Walk *walk, int fd, const char *below, FolderRole role, guint depth)
{
    g_autoptr(GPtrArray) names = NULL;
    gboolean maildir = is_directory(fd, "cur") || is_directory(fd, "new");
    gboolean messages = FALSE, mh = mailbox_is_mh(fd);

    errno = ELOOP;
    if (depth <= DEPTH_MAX)
        names = list_directory(fd);
    if (names == NULL) {
        add_problem(walk, below);
        return;
    }
    if (maildir)
        add_found(walk, FOUND_MAILDIR, below, role);
    for (guint i = 0; i < names->len; i++) {
        const char *name = names->pdata[i];
        gboolean message = mailbox_is_message_name(name, mh) && !is_directory(fd, name);
        /* In a Maildir there are directories and the files of the mail server. */
        gboolean ours = maildir && (g_str_equal(name, "cur") || g_str_equal(name, "new") ||
                                    g_str_equal(name, "tmp") || !is_directory(fd, name));
        messages = messages || (message && !maildir);
        if (!ours && !message)
            walk_name(walk, fd, name, below, role, depth);
    }
    if (messages)
        add_found(walk, FOUND_DIRECTORY, below, role);
}

/* Opens what lies below the root, as it was found: no link on the way. -1 with errno. */
static int
open_below(const Walk *walk, const char *below)
{
    g_auto(GStrv) names = g_strsplit(below, "/", -1);
    int fd = fcntl(walk->fd, F_DUPFD_CLOEXEC, 0);

    for (char **name = names; *name != NULL && fd >= 0; name++) {
        int next = openat(fd, *name, OPEN_FLAGS);
        int failed = errno;
        close(fd);
        errno = failed;
        fd = next;
    }
    return fd;
}

static MailboxReading
read_found(const Found *found, int fd, const char *path)
{
    if (fd < 0)
        return mailbox_read_nothing(path, found->problem != NULL ? found->problem
                                                                 : g_strerror(errno));
    switch (found->kind) {
    case FOUND_MBOX:
        return mailbox_read_mbox(fd, path);
    case FOUND_FILE:
        return mailbox_read_file(fd, path);
    case FOUND_DIRECTORY:
        return mailbox_read_directory(fd, path);
    case FOUND_MAILDIR:
        return mailbox_read_maildir(fd, path);
    case FOUND_NOTHING:
        break;
    }
    close(fd);
    return mailbox_read_nothing(path, found->problem);
}

static gboolean
walk_next_folder(gpointer self, MailboxFolder *folder_out, MailboxReading *reading_out,
                 GError **error G_GNUC_UNUSED)
{
    Walk *walk = self;

    if (walk->next >= walk->found->len)
        return FALSE;
    const Found *found = walk->found->pdata[walk->next++];
    g_free(walk->path);
    walk->path = *found->below != 0 ? g_build_filename(walk->root, found->below, NULL)
                                    : g_strdup(walk->root);
    int fd = found->kind != FOUND_NOTHING ? open_below(walk, found->below) : -1;
    *reading_out = read_found(found, fd, walk->path);
    *folder_out =
        (MailboxFolder){.path = walk->path, .role = found->role, .labelled = found->labelled};
    return TRUE;
}

static void
walk_rewind(gpointer self)
{
    Walk *walk = self;

    walk->next = 0;
}

static void
walk_free(gpointer self)
{
    Walk *walk = self;

    close(walk->fd);
    g_ptr_array_unref(walk->found);
    g_free(walk->root);
    g_free(walk->path);
    g_free(walk);
}

/* The root is an open file or directory. */
static gboolean
walk_root(Walk *walk, GError **error)
{
    g_autofree char *name = g_path_get_basename(walk->root);
    FolderRole role = folder_role(name);
    char first;
    struct stat status;

    if (fstat(walk->fd, &status) == 0 && S_ISDIR(status.st_mode)) {
        walk_directory(walk, walk->fd, "", role, 0);
    } else if (S_ISREG(status.st_mode)) {
        gboolean empty = pread_most(walk->fd, &first, 1, 0, PREAD_UNKNOWN) == 0;
        if (!empty && !add_mbox(walk, walk->fd, "", role))
            add_found(walk, FOUND_FILE, "", role);
        return TRUE;
    }
    if (walk->found->len > 0)
        return TRUE;
    g_set_error(error, EXEAT_ERROR, ERROR_TEMP, "%s: there is no mailbox", walk->root);
    return FALSE;
}

Mailbox *
mailbox_walk(const char *path, GError **error)
{
    static const MailboxSource source = {walk_next_folder, walk_rewind, walk_free};
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

    if (fd < 0) {
        g_set_error(error, EXEAT_ERROR, ERROR_TEMP, "%s: %s", path, g_strerror(errno));
        return NULL;
    }
    Walk *walk = g_new0(Walk, 1);
    walk->root = g_strdup(path);
    walk->fd = fd;
    walk->found = g_ptr_array_new_with_free_func(found_free);
    if (walk_root(walk, error))
        return mailbox_new(&source, walk);
    walk_free(walk);
    return NULL;
}
