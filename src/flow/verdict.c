/* verdict.c - see verdict.h. */
#include "flow/verdict.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- reviewers ---------------------------------------------------------------------------------------- */

static const struct {
    const char *word; // as text and, without case and underscores, as `decision`
    enum review_code code;
} words[] = {
    { "RETRY_PREDECESSOR", REVIEW_PREDECESSOR }, // before its own prefix
    { "RETRY", REVIEW_RETRY },
    { "REJECT", REVIEW_REJECT },
    { "APPROVE", REVIEW_APPROVE },
};

static bool is_decision(const char *text, const char *word)
{
    for (; *word; word++) {
        if (*word == '_' && *text != '_')
            continue;
        if (strncasecmp(text++, word, 1) != 0)
            return false;
    }
    return *text == '\0';
}

static char *copy_trimmed(const char *text, size_t len)
{
    while (len && strchr(" \t\r\n", text[0]))
        text++, len--;
    while (len && strchr(" \t\r\n", text[len - 1]))
        len--;
    return mem_dup(text, len);
}

static void read_object(const json_t *value, struct verdict *ret)
{
    const char *decision = json_string_value(json_object_get(value, "decision"));
    for (size_t i = 0; decision && i < COUNT(words); i++)
        if (is_decision(decision, words[i].word))
            ret->code = words[i].code;
    ret->step = mem_strdup(json_string_value(json_object_get(value, "step")));
    ret->feedback = mem_strdup(json_string_value(json_object_get(value, "feedback")));
}

/* What stands behind the first colon is feedback; before it, the name of a step. */
static void read_text(const char *text, struct verdict *ret)
{
    text += strspn(text, " \t\r\n");
    for (size_t i = 0; i < COUNT(words); i++) {
        size_t len = strlen(words[i].word);
        if (strncasecmp(text, words[i].word, len) != 0)
            continue;
        const char *rest = text + len, *colon = strchr(rest, ':');
        size_t name = colon ? (size_t)(colon - rest) : strlen(rest);
        ret->code = words[i].code;
        if (ret->code == REVIEW_PREDECESSOR)
            ret->step = copy_trimmed(rest, name);
        if (colon)
            ret->feedback = copy_trimmed(colon + 1, strlen(colon + 1));
        return;
    }
}

void verdict_review(const json_t *value, const char *content, struct verdict *ret)
{
    *ret = (struct verdict){ .code = REVIEW_UNCLEAR };
    if (json_is_object(value))
        read_object(value, ret);
    if (ret->code == REVIEW_UNCLEAR && json_is_string(value))
        content = json_string_value(value);
    if (ret->code == REVIEW_UNCLEAR && content)
        read_text(content, ret);
}

void verdict_clear(struct verdict *verdict)
{
    mem_free(verdict->step);
    mem_free(verdict->feedback);
    *verdict = (struct verdict){ 0 };
}

/* ---- scorers ------------------------------------------------------------------------------------------ */

/* A text that is a number and nothing else: what a command writes.  NAN. */
static double text_score(const char *text)
{
    char *end;
    double score = strtod(text, &end);
    return end == text || end[strspn(end, " \t\r\n")] ? NAN : score;
}

double verdict_score(const json_t *value)
{
    if (json_is_object(value))
        value = json_object_get(value, "score");
    if (json_is_string(value))
        return text_score(json_string_value(value));
    return json_is_number(value) ? json_number_value(value) : NAN;
}
