#include "cli/import.h"

struct _ImportPeople {
    GHashTable *people; /* address: ImportPerson * */
    GHashTable *seen;   /* numbers of the ids counted: eight bytes for a message */
};

ImportPeople *
import_people_new(void)
{
    ImportPeople *people = g_new0(ImportPeople, 1);

    people->people = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    people->seen = g_hash_table_new(g_direct_hash, g_direct_equal);
    return people;
}

void
import_people_free(ImportPeople *people)
{
    if (people == NULL)
        return;
    g_hash_table_unref(people->people);
    g_hash_table_unref(people->seen);
    g_free(people);
}

/* FNV-1a: two of a million ids share a number once in forty million imports. */
static gpointer
number_of(const char *id)
{
    guint64 number = G_GUINT64_CONSTANT(14695981039346656037);

    for (; *id != '\0'; id++)
        number = (number ^ (guchar)*id) * G_GUINT64_CONSTANT(1099511628211);
    return GSIZE_TO_POINTER((gsize)number);
}

static ImportPerson *
person_of(ImportPeople *people, const char *address)
{
    ImportPerson *person = g_hash_table_lookup(people->people, address);

    if (person == NULL) {
        person = g_new0(ImportPerson, 1);
        g_hash_table_insert(people->people, g_strdup(address), person);
    }
    return person;
}

void
import_people_count(ImportPeople *people, const ImportMessage *message, gboolean count_senders)
{
    const Lesson *lesson = &message->lesson;

    if (!lesson->sent) {
        const Extract *extract = message->head->extract;
        char *const *from = extract->from;
        for (guint i = 0; count_senders && !extract->automatic && from[i] != NULL; i++)
            person_of(people, from[i])->wrote = TRUE;
        return;
    }
    if (!g_hash_table_add(people->seen, number_of(lesson->message_id)))
        return;
    for (guint i = 0; lesson->recipients[i] != NULL; i++) {
        ImportPerson *person = person_of(people, lesson->recipients[i]);
        person->first = person->times == 0 ? lesson->when : MIN(person->first, lesson->when);
        person->last = MAX(person->last, lesson->when);
        person->times++;
    }
}

void
import_people_narrow(ImportPeople *people, guint64 least, gboolean replied)
{
    GHashTableIter iter;
    gpointer value;

    g_hash_table_iter_init(&iter, people->people);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        const ImportPerson *person = value;
        if (person->times < MAX(least, 1) || (replied && !person->wrote))
            g_hash_table_iter_remove(&iter);
    }
}

const ImportPerson *
import_people_find(const ImportPeople *people, const char *address)
{
    return g_hash_table_lookup(people->people, address);
}

static gint
compare_addresses(gconstpointer a, gconstpointer b, gpointer unused G_GNUC_UNUSED)
{
    return g_strcmp0(*(const char *const *)a, *(const char *const *)b);
}

char **
import_people_list(const ImportPeople *people)
{
    guint count;
    char **addresses = (char **)g_hash_table_get_keys_as_array(people->people, &count);

    g_qsort_with_data(addresses, (gint)count, sizeof *addresses, compare_addresses, NULL);
    return addresses;
}
