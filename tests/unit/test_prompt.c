/* test_prompt.c - the parts that prompts are made of; whole prompts are in tests/prompts. */
#include "agent/prompt.h"
#include "test.h"

#include <string.h>

static char *cut(const char *text, size_t max)
{
    static char kept[300];
    auto_buf struct buf out = { 0 };
    sheet_put(&out, text, strlen(text), max);
    return strcpy(kept, buf_text(&out));
}

TEST(a_text_that_fits_stays_as_it_is)
{
    CHECK_STR(cut("", 10), "");
    CHECK_STR(cut("0123456789", 10), "0123456789");
}

TEST(a_cut_is_visible_and_counts_in_the_limit)
{
    const char *text = "0123456789012345678901234567890123456789012345678901234567890123456789";
    CHECK_STR(cut(text, 40), "0123456\n" CUT_NOTE);
    CHECK_UINT(strlen(cut(text, 40)), 40);
    CHECK_STR(cut(text, 5), "\n" CUT_NOTE); // a limit below the note's own length
}

TEST(a_cut_falls_between_characters)
{
    char text[100] = "";
    for (int i = 0; i < 20; i++)
        strcat(text, "\xe2\x82\xac"); // three bytes each
    CHECK_STR(cut(text, 33 + 7), "\xe2\x82\xac\xe2\x82\xac\n" CUT_NOTE); // the third would need 9
    CHECK_STR(cut(text, 33 + 9), "\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\n" CUT_NOTE);
}

static char *section(const char *before, const char *heading)
{
    static char kept[300];
    auto_buf struct buf out = { 0 };
    buf_puts(&out, before);
    text_heading(&out, "%s", heading);
    return strcpy(kept, buf_text(&out));
}

TEST(sections_are_set_apart_by_one_empty_line)
{
    CHECK_STR(section("", "## Task"), "## Task\n");
    CHECK_STR(section("text", "## Task"), "text\n\n## Task\n");
    CHECK_STR(section("text\n", "## Task"), "text\n\n## Task\n");
}

static void say(struct kid *kid, const char *text)
{
    kid->res = (struct result){ .value = json_string(text), .status = RONDO_STATUS_COMPLETED };
}

TEST(a_pass_is_told_step_by_step_and_then_by_its_judge)
{
    struct node_child children[] = { { .name = "draft" }, { .name = "skipped" }, { .name = "critique" } };
    rondo_node node = { .children = children, .count = 3 };
    struct kid kids[3] = { 0 };
    struct outcome more = { .steps = kids, .step_count = 3, .steps_of = &node, .judge = "not yet" };
    struct pass pass = { .out = { .more = &more, .status = RONDO_STATUS_COMPLETED },
                         .status = RONDO_STATUS_COMPLETED };
    auto_buf struct buf out = { 0 };
    say(&kids[0], "a text");
    say(&kids[2], "too short");
    pass_put(&out, &pass, 2);
    CHECK_STR(buf_text(&out), "## Iteration 2\n\n### draft\na text\n\n### critique\ntoo short\n\n"
                              "## Judge Feedback (Iteration 2)\nnot yet");
}

TEST(a_pass_of_one_step_stands_by_itself)
{
    struct pass pass = { .out = { .value = json_string("done"), .status = RONDO_STATUS_COMPLETED },
                         .status = RONDO_STATUS_COMPLETED };
    auto_buf struct buf out = { 0 };
    buf_puts(&out, "before|");
    pass_put(&out, &pass, 1);
    CHECK_STR(buf_text(&out), "before|## Iteration 1\ndone");
}

TEST(a_pass_that_failed_says_why)
{
    struct outcome more = { .error = "no luck" };
    struct pass pass = { .out = { .more = &more, .status = RONDO_STATUS_FAILED },
                         .status = RONDO_STATUS_FAILED };
    auto_buf struct buf out = { 0 };
    pass_put(&out, &pass, 3);
    CHECK_STR(buf_text(&out), "## Iteration 3\n(failed: no luck)");
}

TEST(a_pass_that_was_read_back_looks_the_same)
{
    json_t *pass = json_pack("{s:{s:{s:s, s:s}, s:{s:s, s:s}}, s:s, s:s}", "steps", "draft", "content", "a text",
                             "status", "completed", "broken", "content", "x", "status", "failed",
                             "content", "a text", "judge", "not yet");
    auto_buf struct buf out = { 0 };
    pass_put_json(&out, pass, 2);
    CHECK_STR(buf_text(&out), "## Iteration 2\n\n### draft\na text\n\n## Judge Feedback (Iteration 2)\nnot yet");
}

static char *shown(struct result *res, bool is_cumulative)
{
    static char kept[300];
    auto_buf struct buf out = { 0 };
    put_result(&out, "x", res, is_cumulative);
    return strcpy(kept, buf_text(&out));
}

TEST(a_result_has_content_and_what_is_more_than_text)
{
    struct outcome more = { .content = "for people" };
    struct result res = { .value = json_string("text"), .status = RONDO_STATUS_COMPLETED };
    CHECK_STR(shown(&res, false), "### x (completed)\ntext");
    res.value = json_pack("{s:i}", "n", 1);
    CHECK_STR(shown(&res, false), "### x (completed)\n\n### x result\n{\"n\":1}");
    res.more = &more;
    CHECK_STR(shown(&res, false), "### x (completed)\nfor people\n\n### x result\n{\"n\":1}");
    res.value = json_pack("[s, n]", "pass one");
    CHECK_STR(shown(&res, true), "### x (completed)\nfor people"); // it is all in there
    res.status = RONDO_STATUS_FAILED;
    CHECK_STR(shown(&res, false), "");
}
