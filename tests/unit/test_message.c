/* test_message.c - conversations in our own form, and schemas that strict mode takes. */
#include "test.h"

#include "dialogs.h"
#include "model/strict.h"

#include <string.h>

TEST(bytes_become_text_whatever_they_are)
{
    json_t *text = message_text("a\0b\xff\xc3\xa4", 6);
    CHECK_STR(json_string_value(text), "a\xef\xbf\xbd" "b\xef\xbf\xbd\xc3\xa4");
    json_decref(text);
    text = message_text("", 0);
    CHECK_STR(json_string_value(text), "");
    json_decref(text);
}

TEST(results_name_their_call)
{
    json_t *call = dialog_json("{'id':'c1','name':'look','arguments':{}}");
    json_t *one = message_tool(call, json_string("seen"), false), *two = message_tool(call, json_array(), true);
    CHECK(json_equal(one, dialog_json("{'role':'tool','call':'c1','name':'look','content':'seen'}")));
    CHECK(json_equal(two, dialog_json("{'role':'tool','call':'c1','name':'look','content':[],'error':true}")));
    json_decref(one);
    json_decref(two);
    json_decref(call);
}

TEST(the_text_of_a_content)
{
    auto_buf struct buf out = { 0 };
    buf_puts(&out, "x:");
    message_put_text(&out, dialog_json("[{'text':'a'},{'image':{'type':'t','data':'d'}},{'text':'b'}]"));
    CHECK_STR(buf_text(&out), "x:a\nb");
}

TEST(conversations_are_checked)
{
    static const struct {
        const char *talk, *want;
    } rows[] = {
        { DIALOG_TALK, NULL },
        { "[]", NULL },
        { "[{'role':'assistant','content':'','calls':[{'id':'a','name':'b','arguments':{}}]}]", NULL },
        { "{}", "expected a list of messages" },
        { "[5]", "message 0: its role is ''" },
        { "[{'role':'system','content':''}]", "message 0: its role is 'system'" },
        { "[{'role':'user'}]", "message 0: its content is neither a text nor a list" },
        { "[{'role':'user','content':[{'image':{'type':'x'}}]}]", "message 0: part 0 is no text, image or file" },
        { "[{'role':'assistant','content':[]}]", "message 0: its content is no text" },
        { "[{'role':'assistant','content':'','calls':[{'id':'a'}]}]", "message 0: call 0 has no id, name or "
                                                                      "arguments" },
        { "[{'role':'tool','call':'a','name':'b','content':''}]",
          "message 0: a result that belongs to no call, or is out of order" },
        { "[{'role':'assistant','content':'','calls':[{'id':'a','name':'b','raw':''}]},{'role':'user','content':''}]",
          "message 1: the calls before it have no results" },
        { "[{'role':'assistant','content':'','calls':[{'id':'a','name':'b','raw':''}]},"
          "{'role':'tool','call':'z','name':'b','content':''}]",
          "message 1: a result that belongs to no call, or is out of order" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        rondo_error err;
        json_t *talk = dialog_json(rows[i].talk);
        int rc = message_check_all(talk, &err);
        CHECK_INT(rc, rows[i].want ? RONDO_EINVAL : 0);
        if (rc)
            CHECK_STR(err.message, rows[i].want);
        json_decref(talk);
    }
}

TEST(estimates_are_on_the_high_side)
{
    /* Tokens as counted by common tokenisers, rounded up. */
    static const struct {
        const char *text;
        int64_t tokens;
    } rows[] = {
        { "The quick brown fox jumps over the lazy dog.", 10 },
        { "{\"a\": [1, 22, 333], \"b\": null}", 17 },
        { "1234567890 0987654321", 10 },
        { "\xe4\xbd\xa0\xe5\xa5\xbd\xe4\xb8\x96\xe7\x95\x8c", 5 },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        json_t *talk = json_pack("[o]", message_user(rows[i].text, strlen(rows[i].text)));
        json_t *none = json_pack("[o]", message_user("", 0));
        int64_t more = message_estimate(talk, "", NULL) - message_estimate(none, "", NULL);
        CHECK(more >= rows[i].tokens);
        CHECK(more <= 4 * rows[i].tokens);
        json_decref(talk);
        json_decref(none);
    }
    CHECK(message_estimate(dialog_json(DIALOG_TALK), "", NULL) > 2 * 1600 + 3000);
    CHECK(message_estimate(dialog_json("[]"), "", dialog_json(DIALOG_TOOLS)) > 60);
}

TEST(strict_mode_takes_closed_objects_of_known_keywords)
{
    static const struct {
        const char *schema;
        bool takes, is_plain;
    } rows[] = {
        { "{'type':'object','properties':{},'additionalProperties':false}", true, true },
        { "{'type':'object','properties':{'a':{'type':'string'}},'required':['a'],"
          "'additionalProperties':false}", true, true },
        { "{'type':'object','properties':{'a':{'type':'string'}},'additionalProperties':false}", false, false },
        { "{'type':'object','properties':{'a':{'type':'string'}},'required':['a']}", false, false },
        { "{'type':'object','properties':{'a':{'type':'integer','minimum':1}},'required':['a'],"
          "'additionalProperties':false}", true, false },
        { "{'type':'object','properties':{'a':{'type':'string','maxLength':3}},'required':['a'],"
          "'additionalProperties':false}", false, false },
        { "{'type':'object','properties':{'a':{'type':['string','null'],'format':'date'}},'required':['a'],"
          "'additionalProperties':false}", true, true },
        { "{'type':'object','properties':{'a':{'type':'string','format':'uri'}},'required':['a'],"
          "'additionalProperties':false}", false, false },
        { "{'type':'object','properties':{'a':{'type':'array','items':{'type':'object'}}},'required':['a'],"
          "'additionalProperties':false}", false, false },
        { "{'type':'object','properties':{'a':{'$ref':'#/$defs/x'}},'required':['a'],'additionalProperties':false,"
          "'$defs':{'x':{'enum':[1,2]}}}", true, true },
        { "{'type':'object','properties':{'a':{'$ref':'http://x'}},'required':['a'],'additionalProperties':false}",
          false, false },
        { "{'type':'object','properties':{'a':{}},'required':['a'],'additionalProperties':false}", false, false },
        { "{'type':'object','properties':{'a':{'oneOf':[]}},'required':['a'],"
          "'additionalProperties':false}", false, false },
        { "{'type':'array','items':{'type':'string'}}", false, false },
        { "{'anyOf':[{'type':'object'}]}", false, false },
        { "true", false, false },
        { "{}", false, false },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        json_t *schema = dialog_json(rows[i].schema);
        CHECK_INT(strict_takes(schema), rows[i].takes);
        CHECK_INT(strict_is_plain(schema), rows[i].is_plain);
        json_decref(schema);
    }
}
