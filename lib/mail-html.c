#include "lib/mail-private.h"

#include <string.h>

#define QUOTE_MAX 10
#define RUN_MAX   200 /* letters in a row that no name in a page has */

typedef struct {
    GString *out;
    char *link;      /* where the open <a> leads; shown after its text */
    gsize link_text; /* where that text begins in out */
    guint pre;       /* open elements whose spaces count */
    guint quote;     /* open blockquotes */
    guint feeds;     /* line feeds at the end of out */
    gboolean space;  /* one space is due before the next character */
    gboolean cell;   /* it parts the cells of a row: a tab */
    guint64 raised;  /* open elements, the last one lowest, that a style makes blocks */
    gboolean tags;   /* FALSE once a tag never ended: there are no more */
    gboolean quotes; /* FALSE once a quoted attribute never ended: quotes then mean nothing */
    gboolean page;   /* nothing but what a browser shows */
    gboolean unseen; /* FALSE once an element that no browser shows never ended */
    gboolean hidden; /* FALSE once a hidden one never ended */
} Render;

/* In which attributes a reader, or the reader's program, finds words or places to go. */
static const char words[] =
    "|alt|title|value|placeholder|label|aria-label|summary|content|srcdoc|";
static const char places[] = "|href|src|srcset|action|formaction|background|cite|poster|data|";

static const char blocks[] =
    "|address|article|aside|blockquote|body|caption|center|dd|details|dialog|dir|div|dl|dt|"
    "fieldset|figcaption|figure|footer|form|h1|h2|h3|h4|h5|h6|head|header|hgroup|hr|html|"
    "legend|li|listing|main|menu|nav|noframes|noscript|ol|optgroup|option|p|plaintext|pre|"
    "script|search|section|select|style|summary|table|tbody|textarea|tfoot|thead|title|tr|ul|"
    "xmp|";

/* Elements without a content. */
static const char empty[] = "|area|base|br|col|embed|hr|img|input|link|meta|source|wbr|";

static gboolean
is_one_of(const char *list, const char *name)
{
    g_autofree char *entry = g_strconcat("|", name, "|", NULL);

    return strstr(list, entry) != NULL;
}

static void
put_line(Render *render, guint feeds_max)
{
    render->space = render->cell = FALSE;
    if (render->feeds >= feeds_max)
        return;
    g_string_append_c(render->out, '\n');
    render->feeds++;
}

static void
put_char(Render *render, gunichar c)
{
    if (render->pre > 0 && c == '\n') {
        put_line(render, G_MAXUINT);
        return;
    }
    if (c == 0x2028 || c == 0x2029 || c == 0x85) { /* break lines everywhere (UAX #14) */
        put_line(render, 2);
        return;
    }
    if (render->pre == 0 && g_unichar_isspace(c) && c != 0xa0) {
        render->space = TRUE;
        return;
    }
    if (render->feeds > 0)
        for (guint i = 0; i < MIN(render->quote, QUOTE_MAX); i++)
            g_string_append(render->out, "> ");
    else if (render->space)
        g_string_append_c(render->out, render->cell ? '\t' : ' ');
    render->space = render->cell = FALSE;
    render->feeds = 0;
    g_string_append_unichar(render->out, c);
}

/* Text up to end, entities decoded. What is no entity stays as it is. */
static void
put_text(Render *render, const char *p, const char *end)
{
    while (p < end) {
        const char *next = g_utf8_next_char(p);
        gunichar c = g_utf8_get_char(p);
        if (c == '&') {
            const char *after = next;
            gunichar decoded = mail_entity(p, &after);
            if (decoded != 0 && after <= end) {
                c = decoded;
                next = after;
            }
        }
        put_char(render, c);
        p = next;
    }
}

static void
put_marked(Render *render, char open, const char *value, char close)
{
    if (*value == 0 || render->page)
        return;
    render->space = TRUE;
    put_char(render, (guchar)open);
    put_text(render, value, value + strlen(value));
    put_char(render, (guchar)close);
    render->space = TRUE;
}

/* TRUE when the text of a link is where it leads, so that saying it twice tells nothing. */
static gboolean
is_said(const Render *render, const char *link)
{
    static const char *const schemes[] = {"", "mailto:", "https://", "http://"};
    g_autofree char *text = g_strstrip(g_strdup(render->out->str + render->link_text));

    for (gsize i = 0; i < G_N_ELEMENTS(schemes); i++)
        if (g_str_has_prefix(link, schemes[i]) && strcmp(link + strlen(schemes[i]), text) == 0)
            return TRUE;
    return FALSE;
}

static void
end_link(Render *render)
{
    g_autofree char *link = g_steal_pointer(&render->link);

    if (link != NULL && !is_said(render, link))
        put_marked(render, '<', link, '>');
}

/* What is no name, no number and no list of them, wherever it stands. */
static gboolean
is_load(const char *text)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=-_";
    gsize run = 0;

    for (; *text != 0; text += run + (text[run] != 0)) {
        run = strspn(text, letters);
        if (run >= RUN_MAX)
            return TRUE;
    }
    return FALSE;
}

/* Pages keep addresses in fields of their own, and "<nora@example.org>" was meant as text. */
static gboolean
names_somebody(const char *text)
{
    for (const char *p = text; *p != 0; p++) {
        const char *next = p + 1;
        gboolean at = *p == '@' || (*p == '&' && mail_entity(p, &next) == '@');
        if (at && p > text && !g_ascii_isspace(p[-1]) && strchr(next, '.') != NULL)
            return TRUE;
    }
    return strstr(text, "%40") != NULL;
}

static void
put_load(Render *render, const char *text)
{
    if (is_load(text) || names_somebody(text))
        put_marked(render, '[', text, ']');
}

static void
put_attribute(Render *render, const char *tag, const char *name, const char *value)
{
    if (strcmp(tag, "a") == 0 && strcmp(name, "href") == 0) {
        end_link(render);
        render->link = g_strdup(value);
        render->link_text = render->out->len;
    } else if (is_one_of(words, name)) {
        put_marked(render, '[', value, ']');
    } else if (is_one_of(places, name) || g_str_has_suffix(name, ":href") ||
               (strcmp(name, "style") == 0 && strcasestr(value, "url(") != NULL)) {
        put_marked(render, '<', value, '>');
    } else {
        put_load(render, value);
    }
}

static gboolean
is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '/';
}

/* Attributes between p and the tag's end. */
static void
read_attributes(Render *render, const char *tag, const char *p, const char *end)
{
    while (p < end) {
        while (p < end && is_space(*p))
            p++;
        const char *start = p;
        while (p < end && !is_space(*p) && (*p != '=' || p == start))
            p++;
        g_autofree char *name = g_ascii_strdown(start, p - start);
        put_load(render, name);
        while (p < end && g_ascii_isspace(*p))
            p++;
        if (p >= end || *p != '=')
            continue;
        for (p++; p < end && g_ascii_isspace(*p);)
            p++;
        char quote = p < end && (*p == '"' || *p == '\'') ? *p++ : 0;
        start = p;
        while (p < end && (quote != 0 ? *p != quote : !g_ascii_isspace(*p)))
            p++;
        g_autofree char *value = g_strndup(start, (gsize)(p - start));
        put_attribute(render, tag, name, value);
        p += quote != 0 && p < end;
    }
}

/* The > that ends the tag beginning at p; NULL when there is none. */
static const char *
find_tag_end(Render *render, const char *p)
{
    char quote = 0;

    for (const char *q = p; render->quotes && *q != 0; q++) {
        if (quote == 0 && *q == '>')
            return q;
        if (quote != 0 ? *q == quote : (*q == '"' || *q == '\'') && q[-1] == '=')
            quote = quote != 0 ? 0 : *q;
    }
    render->quotes = FALSE;
    const char *end = strchr(p, '>');
    render->tags = end != NULL;
    return end;
}

/* Lines, quotes and spaces that a tag brings. */
static void
lay_out(Render *render, const char *tag, gboolean closing)
{
    if (strcmp(tag, "br") == 0) {
        put_line(render, 2);
    } else if (is_one_of(blocks, tag)) {
        put_line(render, strcmp(tag, "p") == 0 ? 2 : 1);
    } else if (strcmp(tag, "td") == 0 || strcmp(tag, "th") == 0) {
        render->space = TRUE;
        render->cell = render->page;
    }
    if (strcmp(tag, "a") == 0)
        end_link(render);
    if (strcmp(tag, "blockquote") == 0)
        render->quote = closing ? render->quote - (render->quote > 0) : render->quote + 1;
    if (is_one_of("|pre|textarea|", tag))
        render->pre = closing ? render->pre - (render->pre > 0) : render->pre + 1;
}

/* Whether the tag's style gives its element lines of its own. */
static gboolean
is_raised(const char *attributes, const char *end)
{
    static const char pattern[] =
        "display\\s*:\\s*(block|flex|grid|table|list-item|flow-root)";
    static GRegex *regex;
    gsize length = (gsize)(end - attributes);

    if (length < strlen(" style=display:grid"))
        return FALSE;
    if (g_once_init_enter(&regex))
        g_once_init_leave(&regex,
                          g_regex_new(pattern, G_REGEX_CASELESS | G_REGEX_RAW, 0, NULL));
    return g_regex_match_full(regex, attributes, (gssize)length, 0, 0, NULL, NULL);
}

/* The lines that begin and end an element which is no block by its name. */
static void
lay_out_raised(Render *render, const char *tag, const char *attributes, const char *end,
               gboolean closing)
{
    gboolean raised = closing ? (render->raised & 1) != 0 : is_raised(attributes, end);

    if (is_one_of(blocks, tag) || is_one_of(empty, tag) || end[-1] == '/')
        return;
    if (raised)
        put_line(render, 1);
    render->raised = closing ? render->raised >> 1 : render->raised << 1 | (guint64)raised;
}

/* Skips what a browser takes for a comment: "<!x>", "<?x>" and "</ x>" as well. */
static const char *
skip_comment(const char *p)
{
    const char *mark = g_str_has_prefix(p, "<!--") ? "-->" : ">";
    const char *end = strstr(p + 2, mark);

    return end != NULL ? end + strlen(mark) : p + strlen(p);
}

/* Skips the content of an element that no browser shows. */
static const char *
skip_unseen(Render *render, const char *tag, const char *content)
{
    const char *end = render->unseen ? strstr(content, "</") : NULL;

    while (end != NULL && g_ascii_strncasecmp(end + 2, tag, strlen(tag)) != 0)
        end = strstr(end + 2, "</");
    render->unseen = end != NULL;
    return end != NULL ? end : content;
}

/* Whether the tag says that a browser shows nothing of its element. */
static gboolean
is_hidden(const char *attributes, const char *end)
{
    static const char pattern[] = "\\shidden([\\s=/]|$)|display\\s*:\\s*none|"
                                  "visibility\\s*:\\s*hidden|"
                                  "font-size\\s*:\\s*0+(\\.0*)?(?![.0-9])";
    static GRegex *regex;
    gsize length = (gsize)(end - attributes);

    if (length < strlen(" hidden"))
        return FALSE;
    if (g_once_init_enter(&regex))
        g_once_init_leave(&regex,
                          g_regex_new(pattern, G_REGEX_CASELESS | G_REGEX_RAW, 0, NULL));
    return g_regex_match_full(regex, attributes, (gssize)length, 0, 0, NULL, NULL);
}

/* Skips a hidden element with those of its name inside it. */
static const char *
skip_hidden(Render *render, const char *tag, const char *content)
{
    gsize length = strlen(tag);
    guint depth = 1;

    if (!render->hidden || is_one_of(empty, tag))
        return content;
    for (const char *p = strchr(content, '<'); p != NULL; p = strchr(p + 1, '<')) {
        gboolean closing = p[1] == '/';
        const char *name = p + 1 + closing;
        if (g_ascii_strncasecmp(name, tag, length) != 0 ||
            (g_ascii_isalnum(name[length]) || name[length] == '-'))
            continue;
        depth = closing ? depth - 1 : depth + 1;
        if (depth == 0)
            return p;
    }
    render->hidden = FALSE;
    return content;
}

/* Reads the tag at p and returns where the text goes on; p itself when it is no tag. */
static const char *
read_tag(Render *render, const char *p)
{
    gboolean closing = p[1] == '/';
    const char *start = p + 1 + closing;

    if (g_ascii_strncasecmp(p, "<!doctype", 9) != 0) {
        if (render->page && (closing ? !g_ascii_isalpha(*start) : p[1] == '!' || p[1] == '?'))
            return skip_comment(p);
        if (g_str_has_prefix(p, "<!--"))
            return p + 4; /* comments are shown: what is in them goes on as text */
        if (p[1] == '!' || p[1] == '?')
            return p + 2;
        if (!g_ascii_isalpha(*start))
            return p;
    }
    const char *end = find_tag_end(render, start);
    if (end == NULL)
        return p;
    const char *name_end = start;
    while (name_end < end && !is_space(*name_end))
        name_end++;
    g_autofree char *tag = g_ascii_strdown(start, name_end - start);
    if (render->page && is_one_of("|script|style|template|", tag))
        return closing ? end + 1 : skip_unseen(render, tag, end + 1);
    if (render->page && !closing && is_hidden(name_end, end))
        return skip_hidden(render, tag, end + 1);
    lay_out(render, tag, closing);
    if (render->page)
        lay_out_raised(render, tag, name_end, end, closing);
    put_load(render, tag);
    read_attributes(render, tag, name_end, end);
    return end + 1;
}

static char *
render_all(const char *html, gboolean page, guint pre)
{
    g_autoptr(GString) out = g_string_sized_new(strlen(html));
    Render render = {.out = out,
                     .pre = pre,
                     .feeds = 2,
                     .tags = TRUE,
                     .quotes = TRUE,
                     .page = page,
                     .unseen = TRUE,
                     .hidden = TRUE};

    for (const char *p = html; *p != 0;) {
        const char *next = *p == '<' && render.tags ? read_tag(&render, p) : p;
        if (next == p && g_str_has_prefix(p, "-->"))
            next = p + 3;
        if (next == p) {
            next = p + 1 + strcspn(p + 1, "<-");
            put_text(&render, p, next);
        }
        p = next;
    }
    end_link(&render);
    return g_strdup(out->str);
}

char *
mail_render_html(const char *html)
{
    return render_all(html, FALSE, 0);
}

char *
mail_render_page(const char *html)
{
    return render_all(html, TRUE, 0);
}

char *
mail_render_lines(const char *html)
{
    static const char pattern[] =
        "white-space\\s*:\\s*(pre|break-spaces)|<(xmp|listing|plaintext)\\b";
    static GRegex *regex;

    if (g_once_init_enter(&regex))
        g_once_init_leave(&regex,
                          g_regex_new(pattern, G_REGEX_CASELESS | G_REGEX_RAW, 0, NULL));
    return g_regex_match(regex, html, 0, NULL) ? render_all(html, TRUE, 1) : NULL;
}
