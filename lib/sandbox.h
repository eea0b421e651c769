/* sandbox.h - what a process gives up for good
 *
 * Landlock and seccomp by raw system calls: what a stranger's bytes might make of the process
 * can then start no program, speak to no other host, and open no file but those named. Call
 * before threads start. What the kernel does not know is left out, and the caller hears of it.
 */
#pragma once

#include <glib.h>

typedef enum {
    SANDBOX_READ, /* files below may be read */
    SANDBOX_WRITE /* likewise, and files and sockets may be made, written and removed */
} SandboxAccess;

typedef struct {
    const char *path; /* of a folder or a file; one that is not there is left out */
    SandboxAccess access;
} SandboxPlace;

/* Nothing can be won by starting a program any more: no_new_privs, for this process and all it
 * starts. FALSE: the kernel refused. */
gboolean sandbox_no_new_privileges(void);

/* No program can be started, no other process looked into, and no socket made but those for
 * this machine (EPERM); a socket that is open stays. FALSE: errno says
 * why, ENOSYS where it is not known for this processor. */
gboolean sandbox_forbid_calls(void);

/* No file can be opened but in the places (EACCES), and TCP is closed where the kernel can do
 * that. What is open stays open. FALSE: errno says why. */
gboolean sandbox_confine(const SandboxPlace *places, gsize count);
