#include "lib/lesson.h"

GVariant *
lesson_to_variant(const Lesson *lesson)
{
    return g_variant_new("(bxss^as^as^as^as^as)", lesson->sent, lesson->when,
                         lesson->message_id, lesson->sender, lesson->parents,
                         lesson->recipients, lesson->correspondents, lesson->mentioned,
                         lesson->lists);
}

void
lesson_from_variant(GVariant *variant, Lesson *lesson_out)
{
    g_variant_get(variant, "(bx&s&s^a&s^a&s^a&s^a&s^a&s)", &lesson_out->sent,
                  &lesson_out->when, &lesson_out->message_id, &lesson_out->sender,
                  &lesson_out->parents, &lesson_out->recipients, &lesson_out->correspondents,
                  &lesson_out->mentioned, &lesson_out->lists);
}

void
lesson_clear(Lesson *lesson)
{
    g_free(lesson->parents);
    g_free(lesson->recipients);
    g_free(lesson->correspondents);
    g_free(lesson->mentioned);
    g_free(lesson->lists);
}
