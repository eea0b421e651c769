/* spelling.h - which word was perhaps meant
 *
 * For the messages about policies and about exeat.conf, so that both guess alike. */
#pragma once

#include <glib.h>

/* The word of known (NULL-terminated) that is nearest to a misspelt one, without regard to
 * case; NULL when none is near: more than two letters differ, or all of them. Borrowed from
 * known. */
const char *spelling_guess(const char *word, const char *const *known);
