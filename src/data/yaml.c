/* yaml.c - reading YAML, by the events of libyaml.

   libyaml knows the grammar and nothing of what words mean: the core schema, tags, anchors, merge
   keys, limits and duplicate keys are ours.  Its marks count characters, which maker_offset() turns
   into bytes.  For it lines end at more characters than ours do, so it is not shown those (standin.h). */
#include "data/anchor.h"
#include "data/doc_maker.h"
#include "data/scalar.h"
#include "data/standin.h"
#include "data/utf8.h"

#include <string.h>
#include <yaml.h>

#define MAX_DIRECTIVES 100
#define ANCHOR_CHARS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"

struct yaml {
    yaml_parser_t parser;
    struct maker maker;
    struct anchors anchors;
    struct standins standins;
};

/* ---- what libyaml says, in other words ------------------------------------------------------------ */

/* The first row whose texts are in libyaml's, and whose `after` is on the line before the place, tells
   what to say.  The place is where the problem was noticed or, for what was begun and not ended, where
   it begins. */
#define ANYTHING "?"
static const struct {
    const char *context, *problem;
    const char *after;    // a text that is in front on the same line; NULL: does not matter
    bool is_at_context;
    const char *say;
} problems[] = {
    // clang-format off
    { "simple key", "could not find expected ':'", NULL, true,
      "expected ':' behind the key; a text of several lines needs quotes or '|'" },
    { "", "mapping values are not allowed", ": ", false, "a text with ': ' in it needs quotes" },
    { "", "mapping values are not allowed", NULL, false,
      "a key is not allowed here; is the line indented wrongly, or the one before not complete?" },
    { "", "mapping keys are not allowed", NULL, false, "a key is not allowed here; is the line indented wrongly?" },
    { "", "block sequence entries are not allowed", ":", false, "a '-' item begins on a line of its own" },
    { "", "block sequence entries are not allowed", NULL, false,
      "a '-' item is not allowed here; is the line indented wrongly?" },
    { "", "tab character", NULL, false, "tabs cannot be used for indentation" },
    { "quoted scalar", "unexpected end of stream", NULL, true, "the quoted text that begins here has no end" },
    { "quoted scalar", "unexpected document indicator", NULL, true, "the quoted text that begins here has no end" },
    { "quoted scalar", "unknown escape", NULL, false, "an unknown escape: in \"...\" a backslash is written \\\\" },
    { "quoted scalar", "hexdecimal", NULL, false, "an escape that lacks hexadecimal digits" },
    { "quoted scalar", "invalid Unicode", NULL, false,
      "an escape that is no character; beyond \\uffff it is written as \\U and eight digits" },
    { "block scalar", "indentation indicator equal to 0", NULL, false, "an indentation of 0 is not possible" },
    { "block scalar", "comment or line break", NULL, false, "the text of a '|' or '>' begins on the next line" },
    { "anchor", "alphabetic or numeric", NULL, false, "expected a name of letters and digits behind '&'" },
    { "alias", "alphabetic or numeric", NULL, false,
      "expected a name of letters and digits behind '*'; a text that begins with '*' needs quotes" },
    { "tag", "", NULL, false, "a tag that cannot be read; a text that begins with '!' needs quotes" },
    { "", "undefined tag handle", NULL, false, "a tag that cannot be read; a text that begins with '!' needs quotes" },
    { "block mapping", "expected key", ANYTHING, false,
      "expected the end of the line; does the text before need quotes?" },
    { "block mapping", "expected key", NULL, false, "expected a key; is the line indented wrongly?" },
    { "block collection", "expected '-'", ANYTHING, false,
      "expected the end of the line; does the text before need quotes?" },
    { "block collection", "expected '-'", NULL, false, "expected a '-' item; is the line indented wrongly?" },
    { "", "expected node content", NULL, false, "expected a value" },
    { "", "expected <document start>", NULL, false, "expected '---' behind the directives" },
    { "", "incompatible YAML", NULL, false, "expected YAML 1.1 or 1.2" },
    { "irective", "", NULL, false, "a directive that cannot be read" },
    // clang-format on
};

static const char *either(const char *text)
{
    return text ? text : "";
}

/* Where a tab indents the line of a byte: its offset, or SIZE_MAX. */
static size_t find_tab(const struct source *source, size_t at)
{
    uint32_t line, column;
    source_place(source, at, &line, &column);
    size_t i = source->lines[line - 1];
    while (source->text[i] == ' ')
        i++;
    return source->text[i] == '\t' ? i : SIZE_MAX;
}

static int fail_at_character(struct yaml *yaml, size_t at)
{
    const char *text = yaml->maker.doc->source->text + at;
    if (*text == '@' || *text == '`' || *text == '%')
        return maker_fail(&yaml->maker, RONDO_EPARSE, at,
                          "a text that begins with '%c' needs quotes", *text);
    return maker_fail(&yaml->maker, RONDO_EPARSE, at, "an unexpected character");
}

/* Is `after` in front of a byte, on its line? */
static bool is_after(const struct source *source, size_t at, const char *after)
{
    uint32_t line, column;
    source_place(source, at, &line, &column);
    const char *start = source->text + source->lines[line - 1], *end = source->text + at;
    if (strcmp(after, ANYTHING) == 0)
        return start + strspn(start, " \t") < end;
    const char *found = strstr(start, after);
    return found && found < end;
}

static int fail_by_row(struct yaml *yaml, size_t at, size_t context_at)
{
    const struct source *source = yaml->maker.doc->source;
    const char *context = either(yaml->parser.context), *problem = either(yaml->parser.problem);
    for (size_t i = 0; i < COUNT(problems); i++)
        if (strstr(context, problems[i].context) && strstr(problem, problems[i].problem) &&
            (!problems[i].after || is_after(source, at, problems[i].after)))
            return maker_fail(&yaml->maker, RONDO_EPARSE,
                              problems[i].is_at_context ? context_at : at, "%s", problems[i].say);
    return maker_fail(&yaml->maker, RONDO_EPARSE, at, "%s", problem);
}

/* Inside of a list or map in brackets. */
static int fail_in_flow(struct yaml *yaml, size_t at)
{
    const struct doc_val *val = maker_top(&yaml->maker)->val;
    const char *kind = doc_kind_text(val);
    if (at >= yaml->maker.doc->source->len)
        return maker_fail(&yaml->maker, RONDO_EPARSE, val->offset, "the %s that begins here has no end",
                          kind);
    return maker_fail(&yaml->maker, RONDO_EPARSE, at, "expected ',' or '%c' in the %s that begins in line %u",
                      val->kind == DOC_LIST ? ']' : '}', kind, val->line);
}

static int fail_by_parser(struct yaml *yaml)
{
    yaml_parser_t *parser = &yaml->parser;
    struct maker *maker = &yaml->maker;
    const struct source *source = maker->doc->source;
    struct maker_frame *top = maker_top(maker);
    if (parser->error == YAML_READER_ERROR)
        return maker_fail(maker, RONDO_EPARSE, source->lines[0] + parser->problem_offset,
                          "the control character U+%04X is not allowed",
                          (unsigned)parser->problem_value);
    if (parser->error == YAML_MEMORY_ERROR)
        return maker_fail(maker, RONDO_ELIMIT, 0, "there is not enough memory to read the file");
    size_t context_at = maker_offset(maker, parser->context_mark.index);
    size_t at = maker_offset(maker, parser->problem_mark.index);
    size_t tab = find_tab(source, at);
    if (tab != SIZE_MAX && !(top && top->is_flow))
        return maker_fail(maker, RONDO_EPARSE, tab, "tabs cannot be used for indentation");
    if (strstr(either(parser->problem), "cannot start any token"))
        return fail_at_character(yaml, at);
    if (top && top->is_flow && strstr(either(parser->context), "flow "))
        return fail_in_flow(yaml, at);
    return fail_by_row(yaml, at, context_at);
}

/* ---- tags ------------------------------------------------------------------------------------------- */

#define TAG_PREFIX "tag:yaml.org,2002:"

static const struct {
    const char *name;
    enum doc_kind kind;
} tags[] = {
    { "str", DOC_TEXT },  { "int", DOC_INT },   { "float", DOC_REAL }, { "bool", DOC_BOOL },
    { "null", DOC_NULL }, { "seq", DOC_LIST },  { "map", DOC_MAP },
};

static int fail_tag(struct yaml *yaml, const yaml_event_t *event, const char *tag)
{
    size_t at = maker_offset(&yaml->maker, event->start_mark.index);
    bool is_short = strncmp(tag, TAG_PREFIX, strlen(TAG_PREFIX)) == 0;
    const char *name = is_short ? tag + strlen(TAG_PREFIX) : tag;
    if (!utf8_is_valid(tag, strlen(tag)))   // it may be written %80
        return maker_fault(&yaml->maker, at, "the tag is not UTF-8");
    return maker_fault(&yaml->maker, at, "the tag '%s%.*s' does not fit here", is_short ? "!!" : "",
                       (int)utf8_fit(name, strlen(name), 80), name);
}

static bool find_tag(const char *tag, enum doc_kind *ret)
{
    if (strncmp(tag, TAG_PREFIX, strlen(TAG_PREFIX)) != 0)
        return false;
    for (size_t i = 0; i < COUNT(tags); i++) {
        if (strcmp(tag + strlen(TAG_PREFIX), tags[i].name) != 0)
            continue;
        *ret = tags[i].kind;
        return true;
    }
    return false;
}

/* !!float takes a whole number, too, and !!str anything. */
static bool apply_tag(struct scalar *meaning, enum doc_kind kind)
{
    if (kind == DOC_TEXT)
        *meaning = (struct scalar){ DOC_TEXT };
    if (kind == DOC_REAL && meaning->kind == DOC_INT)
        *meaning = (struct scalar){ DOC_REAL, .real = (double)meaning->number };
    return meaning->kind == kind;
}

/* ---- events ----------------------------------------------------------------------------------------- */

/* Is there a byte-order mark?  libyaml allows one in front of every line. */
static bool is_mark(const char *text, size_t at)
{
    return at && strchr("\r\n", text[at - 1]) && strncmp(text + at, "\xef\xbb\xbf", 3) == 0;
}

static size_t skip_gap(const char *text, size_t at, size_t end)
{
    for (;;) {
        if (at < end && strchr(" \t\r\n", text[at]))
            at++;
        else if (at < end && text[at] == '#')
            at += strcspn(text + at, "\r\n");
        else if (at < end && is_mark(text, at))
            at += 3;
        else
            return at;
    }
}

/* The marks of a value with an anchor or a tag begin at that; the value itself is behind both. */
static size_t skip_properties(const char *text, size_t at, size_t end)
{
    char first = text[at];
    for (int i = 0; i < 2 && at < end && (text[at] == '&' || text[at] == '!'); i++) {
        if (i > 0 && text[at] == first)   // of the first key in it
            break;
        at += text[at] == '&' ? 1 + strspn(text + at + 1, ANCHOR_CHARS)
                              : strcspn(text + at, " \t\r\n");
        at = skip_gap(text, at, end);
    }
    return MIN(at, end);
}

static size_t start_of(struct yaml *yaml, const yaml_event_t *event, bool has_properties, size_t end)
{
    size_t at = maker_offset(&yaml->maker, event->start_mark.index);
    return has_properties ? skip_properties(yaml->maker.doc->source->text, at, end) : at;
}

static size_t end_of(struct yaml *yaml, const yaml_event_t *event)
{
    return maker_offset(&yaml->maker, event->end_mark.index);
}

static void keep_anchor(struct anchor *anchor, struct doc_val *val, uint64_t values, uint32_t height)
{
    if (!anchor)
        return;
    anchor->val = val;
    anchor->values = values;
    anchor->height = height;
}

static struct anchor *add_anchor(struct yaml *yaml, const yaml_char_t *name)
{
    return name ? anchors_add(&yaml->anchors, &yaml->maker.doc->arena, (const char *)name) : NULL;
}

static int fail_number(struct yaml *yaml, size_t at, const char *text, struct scalar *ret)
{
    *ret = (struct scalar){ DOC_TEXT, .is_bad = true };
    return maker_fault(&yaml->maker, at, "'%.40s' is a number that no JSON value can be; in quotes it is a text",
                       text);
}

/* What a scalar means.  A key without a tag is its text, whatever that looks like. */
static int resolve(struct yaml *yaml, const yaml_event_t *event, size_t at, struct scalar *ret)
{
    const char *text = (const char *)event->data.scalar.value, *tag = (char *)event->data.scalar.tag;
    size_t len = event->data.scalar.length;
    enum doc_kind kind = DOC_TEXT;
    bool is_plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    bool is_name = maker_wants_key(&yaml->maker) && !event->data.scalar.anchor;
    *ret = (struct scalar){ DOC_TEXT };
    if (strlen(text) != len)
        return maker_fail(&yaml->maker, RONDO_EPARSE, at, "a text may not contain NUL characters");
    if (tag && strcmp(tag, "!") != 0 && !find_tag(tag, &kind))
        return fail_tag(yaml, event, tag);
    if ((tag ? kind != DOC_TEXT : is_plain && !is_name) && !scalar_resolve(text, len, ret))
        return fail_number(yaml, at, text, ret);
    return !tag || apply_tag(ret, kind) ? 0 : fail_tag(yaml, event, tag);
}

static void set_style(struct doc_val *val, yaml_scalar_style_t style)
{
    val->is_block = style == YAML_LITERAL_SCALAR_STYLE || style == YAML_FOLDED_SCALAR_STYLE;
    val->is_quoted =
        style == YAML_SINGLE_QUOTED_SCALAR_STYLE || style == YAML_DOUBLE_QUOTED_SCALAR_STYLE;
}

static int take_value(struct yaml *yaml, const yaml_event_t *event, size_t at, size_t end,
                      const struct scalar *meaning)
{
    const char *text = (const char *)event->data.scalar.value;
    size_t len = event->data.scalar.length;
    struct doc_val *val = maker_scalar(&yaml->maker, at, end, text, len, meaning);
    set_style(val, event->data.scalar.style);
    keep_anchor(add_anchor(yaml, event->data.scalar.anchor), val, 1, 0);
    return maker_add(&yaml->maker, val, end);
}

/* Its pair will not be in the map. */
static int bad_key(struct yaml *yaml, size_t at, size_t end, const char *message)
{
    int rc = maker_fault(&yaml->maker, at, "%s", message);
    struct doc_val *key = maker_key(&yaml->maker, at, end, "", 0);
    key->kind = DOC_NULL;
    return rc == 0 ? maker_add(&yaml->maker, key, end) : rc;
}

/* A key is a text, but what an anchor names has to be a value. */
static int take_key(struct yaml *yaml, const yaml_event_t *event, size_t at, size_t end,
                    const struct scalar *meaning)
{
    const char *text = (const char *)event->data.scalar.value;
    size_t len = event->data.scalar.length;
    if (!len && event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE)
        return bad_key(yaml, at, end, "expected a key");
    if (event->data.scalar.anchor) {
        struct doc_val *val = maker_scalar(&yaml->maker, at, end, text, len, meaning);
        set_style(val, event->data.scalar.style);
        keep_anchor(add_anchor(yaml, event->data.scalar.anchor), val, 1, 0);
    }
    struct doc_val *key = maker_key(&yaml->maker, at, end, text, len);
    set_style(key, event->data.scalar.style);
    return maker_add(&yaml->maker, key, end);
}

static int take_scalar(struct yaml *yaml, const yaml_event_t *event)
{
    bool has_properties = event->data.scalar.anchor || event->data.scalar.tag;
    size_t end = end_of(yaml, event), at = start_of(yaml, event, has_properties, end);
    struct scalar meaning;
    standins_undo(&yaml->standins, (char *)event->data.scalar.value);   // names and tags are ASCII
    int rc = resolve(yaml, event, at, &meaning);
    if (rc < 0)
        return rc;
    return (maker_wants_key(&yaml->maker) ? take_key : take_value)(yaml, event, at, end, &meaning);
}

static bool is_template(const struct yaml *yaml, size_t at)
{
    return at && strncmp(yaml->maker.doc->source->text + at - 1, "{{", 2) == 0;
}

static int open_any(struct yaml *yaml, const yaml_event_t *event, enum doc_kind kind, bool is_flow,
                    const yaml_char_t *anchor, const char *tag)
{
    size_t at = start_of(yaml, event, anchor || tag, yaml->maker.doc->source->len);
    enum doc_kind tagged = kind;
    int rc = 0;
    if (tag && strcmp(tag, "!") != 0 && (!find_tag(tag, &tagged) || tagged != kind))
        rc = fail_tag(yaml, event, tag);
    if (rc == 0 && maker_wants_key(&yaml->maker))
        rc = maker_fault(&yaml->maker, at, "a key has to be a text, not a %s%s", kind == DOC_LIST ? "list" : "map",
                         is_template(yaml, at) ? "; a text that begins with '{{' needs quotes" : "");
    if (rc == 0)
        rc = maker_open(&yaml->maker, kind, at, is_flow);
    if (rc == 0)
        maker_top(&yaml->maker)->user = add_anchor(yaml, anchor);
    return rc;
}

static int open_list(struct yaml *yaml, const yaml_event_t *event)
{
    return open_any(yaml, event, DOC_LIST,
                    event->data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE,
                    event->data.sequence_start.anchor, (char *)event->data.sequence_start.tag);
}

static int open_map(struct yaml *yaml, const yaml_event_t *event)
{
    return open_any(yaml, event, DOC_MAP,
                    event->data.mapping_start.style == YAML_FLOW_MAPPING_STYLE,
                    event->data.mapping_start.anchor, (char *)event->data.mapping_start.tag);
}

static int close_any(struct yaml *yaml, const yaml_event_t *event)
{
    struct maker_frame frame = *maker_top(&yaml->maker);
    int rc = maker_close(&yaml->maker, end_of(yaml, event));
    if (rc == 0)
        keep_anchor(frame.user, frame.val, yaml->maker.values - frame.before, frame.height + 1);
    return rc;
}

/* Stands for nothing. */
static int bad_alias(struct yaml *yaml, const char *name, const struct anchor *anchor, size_t at, size_t end)
{
    static const struct scalar nothing = { DOC_NULL, .is_bad = true };
    struct maker *maker = &yaml->maker;
    int rc = anchor ? maker_fault(maker, at, "the alias '*%.80s' is inside of its own anchor", name)
                    : maker_fault(maker, at, "there is no anchor '&%.80s' before this", name);
    return rc == 0 ? maker_add(maker, maker_scalar(maker, at, end, "", 0, &nothing), end) : rc;
}

static int take_alias(struct yaml *yaml, const yaml_event_t *event)
{
    struct maker *maker = &yaml->maker;
    const char *name = (const char *)event->data.alias.anchor;
    struct anchor *anchor = anchors_find(&yaml->anchors, name);
    size_t end = end_of(yaml, event), at = start_of(yaml, event, false, end);
    if (!anchor || !anchor->val)
        return bad_alias(yaml, name, anchor, at, end);
    if (!maker_wants_key(maker))
        return maker_add_again(maker, anchor->val, at, end, anchor->values, anchor->height);
    if (anchor->height)
        return bad_key(yaml, at, end, anchor->val->kind == DOC_LIST ? "a key has to be a text, not a list"
                                                                    : "a key has to be a text, not a map");
    struct doc_val *key = maker_key(maker, at, end, anchor->val->text, anchor->val->text_len);
    key->is_alias = key->is_quoted = true;   // no <<, whatever it says
    return maker_add(maker, key, end);
}

static int (*const takers[])(struct yaml *yaml, const yaml_event_t *event) = {
    [YAML_ALIAS_EVENT] = take_alias,         [YAML_SCALAR_EVENT] = take_scalar,
    [YAML_SEQUENCE_START_EVENT] = open_list, [YAML_SEQUENCE_END_EVENT] = close_any,
    [YAML_MAPPING_START_EVENT] = open_map,   [YAML_MAPPING_END_EVENT] = close_any,
};

static int take_event(struct yaml *yaml, const yaml_event_t *event)
{
    size_t type = (size_t)event->type;
    return type < COUNT(takers) && takers[type] ? takers[type](yaml, event) : 0;
}

static bool is_nothing(const struct doc *doc)
{
    const struct doc_val *root = doc->root;
    return !root || (root->kind == DOC_NULL && !root->text_len);
}

/* The first thing behind the end of a document that is no marker, directive or comment; NULL. */
static const char *find_rest(const char *text)
{
    for (; *text; text += strcspn(text, "\n"), text += *text == '\n') {
        if (strncmp(text, "---", 3) == 0 || strncmp(text, "...", 3) == 0)
            text += 3;
        const char *first = text + strspn(text, " \t\r");
        if (*first && !strchr("\n#%", *first))
            return first;
    }
    return NULL;
}

/* A document without "..." ends where libyaml could not go on: at the next one, or at a mistake. */
static int check_end(struct yaml *yaml, const yaml_event_t *event)
{
    const struct source *source = yaml->maker.doc->source;
    size_t at = end_of(yaml, event);
    const char *text = source->text + at, *rest = find_rest(text);
    yaml->maker.doc->rest = rest ? (size_t)(rest - source->text) : 0;
    if (event->type == YAML_DOCUMENT_END_EVENT && event->data.document_end.implicit &&
        at < source->len && strncmp(text, "---", 3) != 0 && *text != '%')
        return maker_fail(&yaml->maker, RONDO_EPARSE, at, "expected the end of the file");
    if (is_nothing(yaml->maker.doc))
        return maker_fail(&yaml->maker, RONDO_EPARSE, 0, "%s",
                          rest ? "the first document of the file is empty, and no other one is read"
                               : "the file is empty");
    return 0;
}

static int read_document(struct yaml *yaml)
{
    yaml_event_t event;
    bool is_end;
    int rc;
    do {
        if (!yaml_parser_parse(&yaml->parser, &event))
            return fail_by_parser(yaml);
        is_end = event.type == YAML_DOCUMENT_END_EVENT || event.type == YAML_STREAM_END_EVENT;
        rc = is_end ? check_end(yaml, &event) : take_event(yaml, &event);
        yaml_event_delete(&event);
    } while (rc == 0 && !is_end);
    return rc;
}

/* What libyaml would take for the end of a line, and YAML 1.2 does not, is hidden from it. */
static int hide_breaks(struct yaml *yaml)
{
    const struct source *source = yaml->maker.doc->source;
    uint32_t code = 0;
    if (yaml->maker.place.is_ascii || standins_init(&yaml->standins, source->text, source->len))
        return 0;
    const char *odd = standins_find(source->text, &code);
    return maker_fail(&yaml->maker, RONDO_EPARSE, (size_t)(odd - source->text),
                      "the character U+%04X ends a line for some programs only; break the line, or write \"\\u%04x\"",
                      (unsigned)code, (unsigned)code);
}

/* libyaml compares every %TAG with all before it. */
static int check_directives(struct yaml *yaml)
{
    const struct source *source = yaml->maker.doc->source;
    const char *first = source->text + source->lines[0], *at = first;
    for (unsigned count = 0; (at = strstr(at, "%TAG")); at++) {
        count += at == first || at[-1] == '\n' || at[-1] == '\r';
        if (count > MAX_DIRECTIVES)
            return maker_fail(&yaml->maker, RONDO_ELIMIT, (size_t)(at - source->text),
                              "there are more than %d directives", MAX_DIRECTIVES);
    }
    return 0;
}

static int read_stream(struct yaml *yaml)
{
    const struct source *source = yaml->maker.doc->source;
    const char *text = yaml->standins.text ? yaml->standins.text : source->text;
    if (!yaml_parser_initialize(&yaml->parser))
        return maker_fail(&yaml->maker, RONDO_ELIMIT, 0, "there is not enough memory to read the file");
    yaml_parser_set_encoding(&yaml->parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&yaml->parser, (const unsigned char *)text + source->lines[0],
                                 source->len - source->lines[0]);
    int rc = read_document(yaml);
    yaml_parser_delete(&yaml->parser);
    return rc;
}

/* JSON is YAML but for one thing: it writes a character beyond U+FFFF as two escapes, which in YAML are none. */
static bool may_be_json(const struct source *source)
{
    const char *text = source->text + source->lines[0];
    char first = text[strspn(text, " \t\r\n")];
    return (first == '{' || first == '[') && (strstr(text, "\\ud") || strstr(text, "\\uD"));
}

static struct doc *read_yaml(struct source *source, const struct doc_limits *limits, rondo_error *err)
{
    struct yaml yaml = { 0 };
    if (maker_begin(&yaml.maker, source, limits, err) == 0 && hide_breaks(&yaml) == 0 && check_directives(&yaml) == 0)
        read_stream(&yaml);
    standins_clear(&yaml.standins);
    anchors_clear(&yaml.anchors);
    return maker_end(&yaml.maker);
}

struct doc *doc_read_yaml(struct source *source, const struct doc_limits *limits, rondo_error *err)
{
    struct doc_limits strict = limits ? *limits : (struct doc_limits){ 0 };
    rondo_error other;
    if (!may_be_json(source))
        return read_yaml(source, limits, err);
    strict.forgives = NULL;   // what it says may not be worth saying
    struct doc *doc = read_yaml(source, &strict, err);
    if (!doc)
        doc = doc_read_json(source, limits, &other);
    return doc ? doc : read_yaml(source, limits, err);
}

const char *doc_yaml_version(void)
{
    return yaml_get_version_string();
}
