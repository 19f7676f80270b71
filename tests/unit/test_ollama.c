/* test_ollama.c - Ollama's own API. */
#include "test.h"

#include "dialogs.h"

#include <string.h>

static const struct api *const api = &api_ollama;

TEST(everything_that_can_be_said_is)
{
    struct inquiry inquiry = dialog_about("[{'role':'user','content':'Hi'}]");
    CHECK_STR(dialog_path(api, &inquiry), "/api/chat");
    CHECK_STR(dialog_sent(api, &inquiry),
              "{'messages':[{'content':'Hi','role':'user'}],'model':'some-model','stream':false}");
    inquiry.system = "Be brief.";
    inquiry.temperature = 0.5;
    inquiry.max_tokens = 100;
    inquiry.effort = "high";
    inquiry.stream = true;
    inquiry.tools = dialog_json(DIALOG_TOOLS);
    inquiry.choice = CHOICE_TOOL;
    inquiry.tool = "go";
    inquiry.schema = dialog_json("{'type':'object'}");
    CHECK_STR(dialog_sent(api, &inquiry),
              "{'format':{'type':'object'},'messages':[{'content':'Be brief.','role':'system'},"
              "{'content':'Hi','role':'user'}],'model':'some-model','options':{'num_predict':100,'temperature':0.5},"
              "'stream':true,'think':'high','tools':[{'function':{'description':'Goes.','name':'go','parameters':{"
              "'properties':{'far':{'type':'number'}},'type':'object'}},'type':'function'}]}");
    inquiry.choice = CHOICE_NONE;
    inquiry.effort = "none";
    CHECK(!strstr(dialog_sent(api, &inquiry), "tools"));
    CHECK(strstr(dialog_sent(api, &inquiry), "'think':false"));
}

TEST(a_conversation_is_told_with_names_instead_of_ids)
{
    struct inquiry inquiry = dialog_about(DIALOG_TALK);
    CHECK_STR(dialog_sent(api, &inquiry),
              "{'messages':[{'content':'See\\n(the file `a.pdf` cannot be shown to this model)','images':['iVBO'],"
              "'role':'user'},{'content':'','role':'assistant','tool_calls':["
              "{'function':{'arguments':{'at':'x'},'name':'look'}},{'function':{'arguments':{},'name':'go'}}]},"
              "{'content':'a cat','images':['iVBP'],'role':'tool','tool_name':'look'},"
              "{'content':'no','role':'tool','tool_name':'go'},{'content':'And?','role':'user'}],"
              "'model':'some-model','options':{'num_ctx':8192},'stream':false}"); // images take room
}

TEST(a_long_conversation_asks_for_room)
{
    auto_buf struct buf text = { 0 };
    struct inquiry inquiry = dialog_about("[]");
    for (int i = 0; i < 5000; i++)
        buf_puts(&text, "word ");
    inquiry.messages = json_pack("[o]", message_user(text.data, text.len));
    CHECK(strstr(dialog_sent(api, &inquiry), "'options':{'num_ctx':16384}"));
    inquiry.max_tokens = 30000;
    CHECK(strstr(dialog_sent(api, &inquiry), "'num_ctx':65536"));
    json_decref((json_t *)inquiry.messages);
}

TEST(lines_come_until_one_says_that_it_is_done)
{
    CHECK_STR(dialog_heard(api,
        "{'model':'qwen3','created_at':'2026-01-01T00:00:00Z','message':{'role':'assistant','content':'',"
        "'thinking':'hm'},"
        "'done':false}\n"
        "{'model':'qwen3','message':{'role':'assistant','content':'Hel'},'done':false}\n"
        "{'model':'qwen3','message':{'role':'assistant','content':'lo'},'done':false}\n"
        "{'model':'qwen3','message':{'role':'assistant','content':''},'done':true,'done_reason':'stop',"
        "'total_duration':5191566416,'prompt_eval_count':26,'eval_count':298,'eval_duration':4799921000}\n"),
        "{'message':{'content':'Hello','role':'assistant','thinking':'hm'},'stop':'end','tokens':[26,298,-1,-1,-1]}");
}

TEST(calls_are_whole_and_get_ids)
{
    const char *stream =
        "{'message':{'role':'assistant','content':'','tool_calls':[{'function':{'name':'look',"
        "'arguments':{'at':'x'}}}]},"
        "'done':false}\n"
        "{'message':{'role':'assistant','content':'','tool_calls':[{'function':{'name':'look',"
        "'arguments':{'at':'y'}}}]},"
        "'done':false}\n{'message':{'role':'assistant','content':''},'done':true,'done_reason':'stop'}";
    json_t *message = dialog_message(api, stream);
    const json_t *calls = json_object_get(message, "calls");
    CHECK_UINT(json_array_size(calls), 2);
    CHECK_STR(api_text(json_object_get(json_array_get(calls, 1), "arguments"), "at"), "y");
    CHECK(strcmp(api_text(json_array_get(calls, 0), "id"), api_text(json_array_get(calls, 1), "id")) != 0);
    CHECK(strstr(dialog_heard(api, stream), "'stop':'calls'"));
    json_decref(message);
}

TEST(ends_and_errors)
{
    CHECK(strstr(dialog_read(api, "{'message':{'content':'x'},'done':true,'done_reason':'length','eval_count':5}"),
                 "'stop':'length','tokens':[-1,5,-1,-1,-1]"));
    CHECK_STR(dialog_heard(api, "{'message':{'content':'x'},'done':false}\n{'error':'an error was encountered'}\n"),
              "trouble SERVER: an error was encountered");
    CHECK_STR(dialog_refused(api, 404, "{'error':'model `x` not found'}"), "MODEL -1 0: model `x` not found");
    CHECK_STR(dialog_refused(api, 400, "{'error':'`x` does not support thinking'}"),
              "REQUEST -1 128: `x` does not support thinking");
    CHECK_STR(dialog_read(api, "{'done':true}"), "error -2: the server's answer has no message in it");
    CHECK(strstr(dialog_heard(api, "{'message':{'content':'x'},'done':false}\n"), "'stop':'none'"));
}
