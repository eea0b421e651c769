/* search.h - is there a message that lies in these boxes and outside those?
 *
 * A line is a box: each condition cuts the values of one variable. Variables are the facts
 * and, for conditions about text, lists and the declared class, one yes/no variable for each
 * different condition. Two messages are looked for at once, the second one step of more risk
 * away from the first (possible.h); text, lists and class are the same in both.
 *
 * The search is exact and takes as long as it takes, but for a budget: a policy whose lines
 * overlap in too many ways is not decided. */
#pragma once

#include "policy/possible.h"
#include "policy/rules-private.h"

/* A condition: the values with which it holds, and the others, each in one or two ranges. */
typedef struct {
    guint variable;
    Range yes[2];
    Range no[2];
} Cut;

typedef struct {
    const Line *line; /* NULL: no line applies; then there are no cuts */
    GArray *cuts;     /* of Cut */
    guint64 facts;    /* a bit for each fact that is cut */
} Box;

typedef struct _Search Search;

/* lines: of Line *; the search borrows them. */
Search *search_new(const GPtrArray *lines);
void search_free(Search *search);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Search, search_free)

/* The box of the line with this number. */
const Box *search_box(const Search *search, guint index);

/* Begins anew with all messages, and with a step, or no step for one message alone. */
void search_begin(Search *search, const Step *step);

/* The first or the second message lies inside, or outside. Inside returns FALSE when that
 * leaves nothing. */
gboolean search_inside(Search *search, const Box *box, gboolean second);
void search_outside(Search *search, const Box *box, gboolean second);

/* TRUE when there is such a message. */
gboolean search_solve(Search *search);

/* TRUE when the budget of this search and all before was used up: FALSE of search_solve then
 * means nothing. */
gboolean search_is_exhausted(const Search *search);

/* After a message was found: a variable's value in the first or second, and whether one lies
 * in a box. */
gint64 search_value(const Search *search, guint variable, gboolean second);
gboolean search_is_inside(const Search *search, const Box *box, gboolean second);
