#include "lib/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>

gboolean
sandbox_no_new_privileges(void)
{
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
}

/* seccomp */

#if defined __x86_64__
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined __aarch64__ && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#elif defined __riscv && __riscv_xlen == 64
#define ARCHITECTURE AUDIT_ARCH_RISCV64
#endif

#ifdef ARCHITECTURE
#define LOAD(member)    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, member))
#define RETURN(what)    BPF_STMT(BPF_RET | BPF_K, what)
#define DENY            RETURN(SECCOMP_RET_ERRNO | EPERM)
#define DENY_CALL(name) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##name, 0, 1), DENY
#define X32_BIT         0x40000000 /* x86-64: the same calls by other numbers */

static const struct sock_filter filter[] = {
    LOAD(arch),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0),
    RETURN(SECCOMP_RET_KILL_PROCESS),
    LOAD(nr),
    BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, X32_BIT, 0, 1),
    DENY,
    DENY_CALL(execve),
    DENY_CALL(execveat),
    DENY_CALL(ptrace),
    DENY_CALL(process_vm_readv),
    DENY_CALL(process_vm_writev),
    DENY_CALL(io_uring_setup), /* it makes calls that no filter sees */
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_socket, 0, 3),
    LOAD(args[0]), /* its lower half on these processors */
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_UNIX, 1, 0),
    DENY,
    RETURN(SECCOMP_RET_ALLOW),
};

gboolean
sandbox_forbid_calls(void)
{
    const struct sock_fprog program = {G_N_ELEMENTS(filter), (struct sock_filter *)filter};

    return sandbox_no_new_privileges() && syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                                                  SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
}
#else
gboolean
sandbox_forbid_calls(void)
{
    errno = ENOSYS;
    return FALSE;
}
#endif

/* Landlock: later versions of it than the headers know have numbers here. */

#define ALL_OF(last) (((guint64)(last) << 1) - 1)
#define FS_REFER     ((guint64)1 << 13)
#define FS_TRUNCATE  ((guint64)1 << 14)
#define FS_IOCTL_DEV ((guint64)1 << 15)
#define NET_ALL      ((guint64)3) /* bind and connect, of TCP */
#define ON_FILES                                                                              \
    (LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE |                             \
     LANDLOCK_ACCESS_FS_READ_FILE | FS_TRUNCATE | FS_IOCTL_DEV)
#define READING (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define WRITING                                                                               \
    (READING | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_MAKE_REG |                  \
     LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_REMOVE_FILE | FS_TRUNCATE)

/* struct landlock_ruleset_attr of version 4; older kernels take it when the rest is 0. */
typedef struct {
    guint64 fs, net;
} Ruleset;

static Ruleset
known_to(long version)
{
    Ruleset all = {.fs = ALL_OF(LANDLOCK_ACCESS_FS_MAKE_SYM)};

    if (version >= 2)
        all.fs |= FS_REFER;
    if (version >= 3)
        all.fs |= FS_TRUNCATE;
    if (version >= 4)
        all.net = NET_ALL;
    if (version >= 5)
        all.fs |= FS_IOCTL_DEV;
    return all;
}

static gboolean
add_place(int ruleset, guint64 handled, const SandboxPlace *place)
{
    struct stat status;
    struct landlock_path_beneath_attr rule = {
        .parent_fd = open(place->path, O_PATH | O_CLOEXEC),
        .allowed_access = handled & (place->access == SANDBOX_WRITE ? WRITING : READING)};

    if (rule.parent_fd < 0)
        return errno == ENOENT || errno == EACCES;
    if (fstat(rule.parent_fd, &status) == 0 && !S_ISDIR(status.st_mode))
        rule.allowed_access &= ON_FILES;
    long added = syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
    close(rule.parent_fd);
    return added == 0;
}

gboolean
sandbox_confine(const SandboxPlace *places, gsize count)
{
    long version =
        syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);

    if (version < 1 || !sandbox_no_new_privileges())
        return FALSE;
    Ruleset all = known_to(version);
    int ruleset = (int)syscall(SYS_landlock_create_ruleset, &all, sizeof all, 0);
    gboolean good = ruleset >= 0;

    for (gsize i = 0; i < count && good; i++)
        good = add_place(ruleset, all.fs, &places[i]);
    good = good && syscall(SYS_landlock_restrict_self, ruleset, 0) == 0;
    if (ruleset >= 0)
        close(ruleset);
    return good;
}
