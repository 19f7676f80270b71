/* test_foreign.c - words of other systems: what they are translated to is there, and what is ours is never one. */
#include "test.h"

#include "flow/fields.h"
#include "flow/foreign.h"
#include "rondo.h"

#include <stdio.h>
#include <string.h>

static const struct fields *const tables[] = {
    &root_fields, &options_fields, &agent_fields, &step_fields, &body_fields, &case_fields, &else_fields, &loop_fields,
    &retry_fields, &review_fields, &parallel_fields, &forum_fields, &machine_fields, &edge_fields, &gate_fields,
    &stall_fields, &budget_fields,
};

static const struct fields *table_of(const char *name)
{
    for (size_t i = 0; i < COUNT(tables); i++)
        if (strcmp(tables[i]->name, name) == 0)
            return tables[i];
    return NULL;
}

/* Whether a key is in that table, or in any if it is NULL. */
static bool is_key(const char *table, const char *key)
{
    bool is = false;
    for (size_t i = 0; i < COUNT(tables); i++)
        if (!table || strcmp(tables[i]->name, table) == 0)
            is |= fields_find(tables[i], key, IN_RONDO) != NULL;
    return is;
}

/* Whether a key can have that word, wherever it stands. */
static bool is_value(const char *key, const char *word)
{
    for (size_t i = 0; i < COUNT(tables); i++) {
        const struct field *field = fields_find(tables[i], key, IN_RONDO);
        for (const struct word *w = field ? field->words : NULL; w && w->name; w++)
            if (strcmp(w->name, word) == 0)
                return true;
    }
    return false;
}

static bool is_status(const char *word)
{
    for (int status = 0; *rondo_status_text(status); status++)
        if (strcmp(rondo_status_text(status), word) == 0)
            return true;
    return false;
}

/* `run` of a step is not known to every version of the tables: a note behind it says what to do then. */
static bool is_there(const struct foreign *row)
{
    switch ((enum foreign_sort)row->sort) {
    case FOREIGN_KEY: return !row->ours || is_key(row->of, row->ours) || strcmp(row->ours, "run") == 0;
    case FOREIGN_VALUE: return is_value(row->of, row->ours);
    case FOREIGN_STATUS: return is_status(row->ours);
    default: return row->ours || row->note;
    }
}

TEST(what_a_word_is_translated_to_is_there)
{
    size_t count;
    const struct foreign *rows = foreign_rows(&count);
    for (size_t i = 0; i < count; i++) {
        if (!is_there(&rows[i]))
            printf("%s (%s): there is no %s\n", rows[i].words, rows[i].of ? rows[i].of : "any", rows[i].ours);
        CHECK(is_there(&rows[i]));
        CHECK(!rows[i].of || rows[i].sort != FOREIGN_KEY || table_of(rows[i].of));
    }
    CHECK(count > 100);
}

static bool is_ours(const struct foreign *row, const char *word)
{
    return (row->sort == FOREIGN_KEY && row->of && is_key(row->of, word)) ||
           (row->sort == FOREIGN_VALUE && is_value(row->of, word)) || (row->sort == FOREIGN_STATUS && is_status(word));
}

/* A word that can never be asked for would be a lie about what is known. */
TEST(no_word_is_one_of_ours)
{
    size_t count, words = 0;
    const struct foreign *rows = foreign_rows(&count);
    for (size_t i = 0; i < count; i++) {
        for (const char *at = rows[i].words; *at; at += strspn(at, " "), words++) {
            char word[40] = "";
            snprintf(word, sizeof word, "%.*s", (int)strcspn(at, " "), at);
            if (is_ours(&rows[i], word))
                printf("%s (%s) is ours\n", word, rows[i].of ? rows[i].of : "any");
            CHECK(!is_ours(&rows[i], word));
            at += strlen(word);
        }
    }
    CHECK(words > 200);
}

static const char *key(const struct fields *table, const char *word, uint8_t dialect)
{
    const struct foreign *row = foreign_key(table, word, dialect);
    return !row ? "-" : row->ours ? row->ours : row->note;
}

TEST(a_key_is_found_however_it_is_spelt)
{
    CHECK_STR(key(&loop_fields, "until_bash", IN_RONDO), "until");
    CHECK_STR(key(&loop_fields, "UntilBash", IN_RONDO), "until");
    CHECK_STR(key(&loop_fields, "until-bash", IN_V1), "until");
    CHECK_STR(key(&loop_fields, "until_bas", IN_RONDO), "-");
    CHECK_STR(key(&loop_fields, "until_bashe", IN_RONDO), "-");
    CHECK_STR(key(&loop_fields, "", IN_RONDO), "-");
    CHECK_STR(key(&loop_fields, "___", IN_RONDO), "-");
}

TEST(a_key_means_what_the_place_knows)
{
    CHECK_STR(key(&agent_fields, "sub_agents", IN_RONDO), "workers");
    CHECK_STR(key(&root_fields, "sub_agents", IN_RONDO), "steps");
    CHECK_STR(key(&step_fields, "sub_agents", IN_V1), "-"); // v1 has no steps in steps
    CHECK_STR(key(&machine_fields, "nodes", IN_RONDO), "states");
    CHECK_STR(key(&root_fields, "nodes", IN_V1), "steps");
    CHECK_STR(key(&root_fields, "params", IN_RONDO), "inputs");
    CHECK_STR(key(&step_fields, "params", IN_RONDO), "with");
    CHECK_STR(key(&body_fields, "approval", IN_RONDO), "gate");
    CHECK_STR(key(&case_fields, "if", IN_RONDO), "when");
    CHECK_STR(key(&agent_fields, "bash", IN_RONDO), "run");
    CHECK_STR(key(&agent_fields, "agent_class", IN_V1), "-"); // nothing that v1 has would do
}

static const char *word(enum foreign_sort sort, const char *of, const char *text)
{
    const struct foreign *row = foreign_word(sort, of, text, strlen(text));
    return row ? row->ours : "-";
}

TEST(a_word_is_found_in_its_sort)
{
    CHECK_STR(word(FOREIGN_VALUE, "onMaxIterations", "RETURN_WITH_FLAG"), "flag");
    CHECK_STR(word(FOREIGN_VALUE, "outputMode", "RETURN_WITH_FLAG"), "-");
    CHECK_STR(word(FOREIGN_STATUS, NULL, "SUCCESS"), "completed");
    CHECK_STR(word(FOREIGN_STATUS, NULL, "and"), "-");
    CHECK_STR(word(FOREIGN_WORD, NULL, "and"), "&&");
}
