/* command.h - the commands of exeat, one file each
 *
 * The table in main.c names them. words: what stands after the command, as many as the table
 * allows, all UTF-8. Each returns an exit status of sysexits.h. */
#pragma once

#include "cli/request.h"

int cmd_account(const Session *session, char **words);
int cmd_approve(const Session *session, char **words);
int cmd_audit(const Session *session, char **words);
int cmd_cancel(const Session *session, char **words);
int cmd_digest(const Session *session, char **words);
int cmd_doctor(const Session *session, char **words);
int cmd_edit(const Session *session, char **words);
int cmd_export(const Session *session, char **words);
int cmd_explain(const Session *session, char **words);
int cmd_history(const Session *session, char **words);
int cmd_import(const Session *session, char **words);
int cmd_list(const Session *session, char **words);
int cmd_lock(const Session *session, char **words);
int cmd_now(const Session *session, char **words);
int cmd_passwd(const Session *session, char **words);
int cmd_policy(const Session *session, char **words);
int cmd_reject(const Session *session, char **words);
int cmd_reload(const Session *session, char **words);
/* The word replay of policy. */
int cmd_replay(const Session *session);
int cmd_resolve(const Session *session, char **words);
int cmd_show(const Session *session, char **words);
int cmd_start(const Session *session, char **words);
int cmd_stats(const Session *session, char **words);
int cmd_status(const Session *session, char **words);
int cmd_stop(const Session *session, char **words);
int cmd_unlock(const Session *session, char **words);
int cmd_veto(const Session *session, char **words);
int cmd_withdraw(const Session *session, char **words);

/* Says on standard error what is wrong with a word. Returns EX_USAGE. */
int command_misused(const char *word, const char *expected);

/* "2026-11-29": the beginning of that day here. FALSE: it is no day. */
gboolean command_read_day(const char *text, gint64 *when_out);

/* Prints an answer as JSON. */
int command_print_json(GVariant *answer);

/* Prints one thing that a command has made: alone, or as JSON under its name. */
int command_print_text(const Session *session, const char *name, const char *text);

/* "exeat: PATH: what errno says" on standard error. Returns the status. */
int command_fail_file(const char *path, int status);

/* Asks the relay to decide on an item and tells its id and the state that it is in now. */
int command_decide(const Session *session, const char *verb, GVariantDict *arguments);

/* The same with an item's id and digest, the words, for an approver's verb. */
int command_approve(const Session *session, const char *verb, char **words);

/* Adds a row of cells to a table for output.h; takes the cells, NULL ends them. */
void command_add_row(GPtrArray *rows, ...) G_GNUC_NULL_TERMINATED;
