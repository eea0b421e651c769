/* condition.h - one condition of a line, and whether it holds
 *
 * A condition about the subject, the text or the declared class rests on the agent's own
 * words; the grammar lets it make a verdict stricter only. */
#pragma once

#include "policy/facts.h"

typedef enum {
    OPERATOR_EQUAL,
    OPERATOR_UNEQUAL,
    OPERATOR_LESS,
    OPERATOR_AT_MOST,
    OPERATOR_MORE,
    OPERATOR_AT_LEAST
} Operator;

typedef enum {
    CONDITION_FACT, /* a flag is compared with 1 or 0 */
    CONDITION_DECLARED,
    CONDITION_SUBJECT,
    CONDITION_TEXT,
    CONDITION_ANY_RECIPIENT,
    CONDITION_ALL_RECIPIENTS
} ConditionKind;

typedef struct {
    ConditionKind kind;
    Fact fact;
    Operator operator;
    gint64 number;
    char *class;      /* declared; in an expect line whatever text is supposed */
    GRegex *pattern;  /* subject and text */
    GHashTable *list; /* recipients: a set of normal forms and of "@domain" */
    char *text;       /* the condition as the file has it */
} Condition;

void condition_clear(Condition *condition);

/* In this order the least of several answers is their "and". */
typedef enum { TRUTH_NO, TRUTH_UNKNOWN, TRUTH_YES } Truth;

Truth condition_ask(const Condition *condition, const Facts *facts);

/* What the facts say: "external = 2", "forward = no", "novel unknown", "2 of 3 recipients".
 * The agent's words are not repeated. The caller frees. */
char *condition_describe(const Condition *condition, const Facts *facts);

/* TRUE when it rests on what the agent wrote. */
gboolean condition_is_claim(const Condition *condition);

/* Compiles a pattern so that matching it against CONDITION_TEXT_MAX bytes ends soon, whatever
 * the text: a search that takes more than some thousand steps from one place fails.
 * is_literal: the pattern is plain text. NULL when it is no pattern; error is G_REGEX_ERROR.
 */
GRegex *condition_compile(const char *pattern, gboolean is_literal, gboolean ignores_case,
                          GError **error);

/* Bytes of a text that are searched. Whether something stands behind them is unknown. */
#define CONDITION_TEXT_MAX (64 * 1024)
