/* test_page.c - HTML as text. */
#include "test.h"

#include "tool/page.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *html, *text;
} rows[] = {
    { "", "" },
    { "plain", "plain" },
    { "a  b\n\tc", "a b c" },
    { "<p>One</p><p>Two</p>", "One\n\nTwo" },
    { "<h1>Title</h1>text", "# Title\n\ntext" },
    { "<h3>Small</h3>", "### Small" },
    { "a<br>b", "a\nb" },
    { "<ul><li>x</li><li>y</li></ul>", "- x\n- y" },
    { "<a href=\"https://example.org/\">here</a>!", "here (https://example.org/)!" },
    { "<a href='#top'>up</a>", "up" },
    { "<script>if (a < b) { evil() }</script>ok", "ok" },
    { "<style>p { }</style>ok<!-- no <b> -->!", "ok!" },
    { "&lt;b&gt; &amp; &#65;&#x42; &nope; &", "<b> & AB &nope; &" },
    { "<table><tr><td>1</td><td>2</td></tr><tr><td>3</td></tr></table>", "1 2\n3" },
    { "<pre>a\n  b</pre>", "a\n  b" },
    { "a < b and c > d", "a < b and c > d" },
    { "<p unclosed", "<p unclosed" },
    { "<script>never ends", "" },
    { "&#0;&#xd800;&#99999999;", "&#0;&#xd800;&#99999999;" },
    { "<!DOCTYPE html><html><head><title>T</title></head><body>B</body></html>", "B" },
};

TEST(what_a_person_would_read)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        auto_buf struct buf out = { 0 };
        page_put_text(&out, rows[i].html, strlen(rows[i].html));
        if (strcmp(buf_text(&out), rows[i].text) != 0)
            printf("%s\n", rows[i].html);
        CHECK_STR(buf_text(&out), rows[i].text);
    }
}

