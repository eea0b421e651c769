/* parser.h - what the functions of the grammar share while a policy is read */
#pragma once

#include "policy/phrase.h"
#include "policy/rules-private.h"

typedef struct {
    Policy *policy;
    const PolicyReader *reader; /* may be NULL */
    GChecksum *checksum;        /* of all texts so far */
    GHashTable *lists;          /* path to set, each file once */
    guint statements;
    /* Of the file that is being read: */
    Lexer lexer;
    const char *file;
    GPtrArray *chain; /* of const char *: the files that led here, this one last */
} Parser;

/* The path of the file that the lexer names; the lexer stays there. what: for messages. */
gboolean parser_path(Parser *parser, const char *what, char **path_out, GError **error);

/* Its text, which becomes part of the version. The caller frees; NULL says where the name
 * stands. */
char *parser_read(Parser *parser, const char *path, GError **error);

/* Adds one condition to a line (grammar-condition.c). */
gboolean parser_condition(Parser *parser, Line *line, GError **error);

/* Adds what an expect line supposes: "FACT = N", a yes/no fact, or a text that stands for
 * something (grammar-condition.c). */
gboolean parser_supposition(Parser *parser, Line *line, GError **error);
