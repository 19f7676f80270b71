/* test_openai_chat.c - Chat Completions as OpenAI speaks it, and as others do. */
#include "test.h"

#include "dialogs.h"

#include <string.h>

static const struct api *const api = &api_openai_chat;

TEST(a_question_is_as_short_as_it_can_be)
{
    struct inquiry inquiry = dialog_about("[{'role':'user','content':'Hi'}]");
    CHECK_STR(dialog_path(api, &inquiry), "/chat/completions");
    CHECK_STR(dialog_sent(api, &inquiry), "{'messages':[{'content':'Hi','role':'user'}],'model':'some-model'}");
}

TEST(everything_that_can_be_said_is)
{
    struct inquiry inquiry = dialog_about("[{'role':'user','content':'Hi'}]");
    inquiry.system = "Be brief.";
    inquiry.temperature = 0.5;
    inquiry.top_p = 0.9;
    inquiry.max_tokens = 100;
    inquiry.effort = "low";
    inquiry.stream = true;
    inquiry.tools = dialog_json(DIALOG_TOOLS);
    inquiry.choice = CHOICE_TOOL;
    inquiry.tool = "go";
    CHECK_STR(dialog_sent(api, &inquiry),
              "{'max_completion_tokens':100,'messages':[{'content':'Be brief.','role':'system'},"
              "{'content':'Hi','role':'user'}],'model':'some-model','reasoning_effort':'low','stream':true,"
              "'stream_options':{'include_usage':true},'temperature':0.5,"
              "'tool_choice':{'function':{'name':'go'},'type':'function'},'tools':["
              "{'function':{'description':'Looks.','name':'look','parameters':{'additionalProperties':false,"
              "'properties':{'at':{'type':'string'}},'required':['at'],'type':'object'},'strict':true},"
              "'type':'function'},{'function':{'description':'Goes.','name':'go','parameters':{"
              "'properties':{'far':{'type':'number'}},'type':'object'}},'type':'function'}],'top_p':0.9}");
    inquiry.manners = MANNER_OLD_LIMIT | MANNER_NO_STREAM_OPTIONS | MANNER_NO_STRICT | MANNER_NO_NAMED_CHOICE |
                      MANNER_NO_SAMPLING | MANNER_NO_EFFORT;
    CHECK_STR(dialog_sent(api, &inquiry),
              "{'max_tokens':100,'messages':[{'content':'Be brief.','role':'system'},"
              "{'content':'Hi','role':'user'}],'model':'some-model','stream':true,'tool_choice':'required','tools':["
              "{'function':{'description':'Goes.','name':'go','parameters':{"
              "'properties':{'far':{'type':'number'}},'type':'object'}},'type':'function'}]}");
}

TEST(which_tools_have_to_be_called)
{
    struct inquiry inquiry = dialog_about("[]");
    inquiry.choice = CHOICE_ANY;
    CHECK_STR(dialog_sent(api, &inquiry), "{'messages':[],'model':'some-model'}"); // there are none
    inquiry.tools = dialog_json("[{'name':'a','description':'b','parameters':{}}]");
    CHECK(strstr(dialog_sent(api, &inquiry), "'tool_choice':'required'"));
    inquiry.choice = CHOICE_TOOL;
    inquiry.tool = "a"; // there is no other
    CHECK(strstr(dialog_sent(api, &inquiry), "'tool_choice':'required'"));
    inquiry.choice = CHOICE_NONE;
    CHECK(strstr(dialog_sent(api, &inquiry), "'tool_choice':'none'"));
    inquiry.choice = CHOICE_AUTO;
    CHECK(!strstr(dialog_sent(api, &inquiry), "tool_choice"));
}

TEST(a_schema_is_strict_where_it_can_be)
{
    struct inquiry inquiry = dialog_about("[]");
    inquiry.schema = dialog_json("{'type':'object','properties':{'a':{'type':'number','minimum':0}},'required':['a'],"
                                 "'additionalProperties':false}");
    CHECK(strstr(dialog_sent(api, &inquiry), "'response_format':{'json_schema':{'name':'result','schema':{"));
    CHECK(strstr(dialog_sent(api, &inquiry), "},'strict':true},'type':'json_schema'}"));
    inquiry.schema = dialog_json("{'type':'object','properties':{'a':{'type':'number'}}}");
    CHECK_STR(dialog_sent(api, &inquiry),
              "{'messages':[],'model':'some-model','response_format':{'json_schema':{'name':'result','schema':{"
              "'properties':{'a':{'type':'number'}},'type':'object'}},'type':'json_schema'}}");
    inquiry.manners = MANNER_NO_SCHEMA;
    CHECK(strstr(dialog_sent(api, &inquiry), "'response_format':{'type':'json_object'}"));
    CHECK(strstr(dialog_sent(api, &inquiry), "It has to fit this JSON Schema: {\\'type\\':\\'object\\'"));
}

TEST(a_conversation_is_told_with_its_images)
{
    struct inquiry inquiry = dialog_about(DIALOG_TALK);
    rondo_error err;
    CHECK_INT(message_check_all(inquiry.messages, &err), 0);
    CHECK_STR(dialog_sent(api, &inquiry),
              "{'messages':[{'content':[{'text':'See','type':'text'},"
              "{'image_url':{'url':'data:image/png;base64,iVBO'},'type':'image_url'},"
              "{'file':{'file_data':'data:application/pdf;base64,JVBE','filename':'a.pdf'},'type':'file'}],"
              "'role':'user'},"
              "{'content':'','role':'assistant','tool_calls':["
              "{'function':{'arguments':'{\\'at\\':\\'x\\'}','name':'look'},'id':'call_1','type':'function'},"
              "{'function':{'arguments':'{}','name':'go'},'id':'call_2','type':'function'}]},"
              "{'content':'a cat','role':'tool','tool_call_id':'call_1'},"
              "{'content':'no','role':'tool','tool_call_id':'call_2'},"
              "{'content':[{'text':'(what the tools above have shown)','type':'text'},"
              "{'image_url':{'url':'data:image/png;base64,iVBP'},'type':'image_url'}],'role':'user'},"
              "{'content':'And?','role':'user'}],'model':'some-model'}");
}

TEST(ids_are_short_where_they_have_to_be)
{
    struct inquiry inquiry = dialog_about(
        "[{'role':'assistant','content':'','calls':[{'id':'toolu_01AbCdEf','name':'a','arguments':{}},"
        "{'id':'Abcdefgh9','name':'b','arguments':{}}]},{'role':'tool','call':'toolu_01AbCdEf','name':'a',"
        "'content':'1'},"
        "{'role':'tool','call':'Abcdefgh9','name':'b','content':'2'}]");
    inquiry.manners = MANNER_SHORT_IDS;
    const char *sent = dialog_sent(api, &inquiry), *id = strstr(sent, "'id':'"), *again = strstr(sent, "call_id':'");
    CHECK(!strstr(sent, "toolu"));
    CHECK(strstr(sent, "'id':'Abcdefgh9'"));
    CHECK_MEM(id + 6, again + 10, 9);
    CHECK_UINT(strcspn(id + 6, "'"), 9);
}

/* ---- streams ---------------------------------------------------------------------------------------------- */

TEST(a_text_comes_in_pieces)
{
    CHECK_STR(dialog_heard(api,
        "data: {'id':'c1','object':'chat.completion.chunk','model':'gpt-5-2025-08-07','choices':[{'index':0,"
        "'delta':{'role':'assistant','content':'','refusal':null},'finish_reason':null}],'usage':null}\n\n"
        "data: {'choices':[{'index':0,'delta':{'content':'Hel'},'finish_reason':null}]}\n\n"
        ": keep-alive\n\n"
        "data: {'choices':[{'index':0,'delta':{'content':'lo \xc3\xa4'},'finish_reason':null}]}\n\n"
        "data: {'choices':[{'index':0,'delta':{},'finish_reason':'stop'}]}\n\n"
        "data: {'choices':[],'usage':{'prompt_tokens':100,'completion_tokens':20,'total_tokens':120,"
        "'prompt_tokens_details':{'cached_tokens':64,'audio_tokens':0},"
        "'completion_tokens_details':{'reasoning_tokens':8}}}\n\n"
        "data: [DONE]\n\n"),
        "{'message':{'content':'Hello \xc3\xa4','role':'assistant'},'stop':'end','tokens':[100,20,64,-1,8]}");
}

TEST(calls_come_in_pieces_by_their_index)
{
    CHECK_STR(dialog_heard(api,
        "data: {'choices':[{'delta':{'role':'assistant','content':null,'tool_calls':[{'index':0,'id':'call_a',"
        "'type':'function','function':{'name':'look','arguments':''}}]}}]}\n\n"
        "data: {'choices':[{'delta':{'tool_calls':[{'index':0,'function':{'arguments':'{\\'at\\':'}}]}}]}\n\n"
        "data: {'choices':[{'delta':{'tool_calls':[{'index':1,'id':'call_b','type':'function','function':"
        "{'name':'go','arguments':''}}]}}]}\n\n"
        "data: {'choices':[{'delta':{'tool_calls':[{'index':0,'function':{'arguments':' \\'x\\'}'}}]}}]}\n\n"
        "data: {'choices':[{'delta':{},'finish_reason':'tool_calls'}]}\n\ndata: [DONE]\n\n"),
        "{'message':{'calls':[{'arguments':{'at':'x'},'id':'call_a','name':'look'},"
        "{'arguments':{},'id':'call_b','name':'go'}],'content':'','role':'assistant'},'stop':'calls',"
        "'tokens':[-1,-1,-1,-1,-1]}");
}

TEST(whole_calls_without_an_index_or_with_the_same_one)
{
    static const char *const streams[] = {
        "data: {'choices':[{'delta':{'tool_calls':[{'id':'a','function':{'name':'look','arguments':'{}'}},"
        "{'id':'b','function':{'name':'go','arguments':{'far':1}}}]}}]}\n\n"
        "data: {'choices':[{'delta':{},'finish_reason':'stop'}]}\n\n",
        "data: {'choices':[{'delta':{'tool_calls':[{'index':0,'id':'a','function':{'name':'look',"
        "'arguments':'{}'}}]}}]}\n\n"
        "data: {'choices':[{'delta':{'tool_calls':[{'index':0,'id':'b','function':{'name':'go',"
        "'arguments':'{\\'far\\''}}]}}]}\n\n"
        "data: {'choices':[{'delta':{'tool_calls':[{'index':0,'id':'b','function':{'name':'go',"
        "'arguments':':1}'}}]},'finish_reason':'tool_calls'}]}\n\n",
    };
    for (size_t i = 0; i < COUNT(streams); i++)
        CHECK_STR(dialog_heard(api, streams[i]),
                  "{'message':{'calls':[{'arguments':{},'id':'a','name':'look'},"
                  "{'arguments':{'far':1},'id':'b','name':'go'}],'content':'','role':'assistant'},'stop':'calls',"
                  "'tokens':[-1,-1,-1,-1,-1]}");
}

TEST(calls_without_ids_get_one_that_stays)
{
    const char *stream =
        "data: {'choices':[{'delta':{'tool_calls':[{'index':0,'function':{'name':'look','arguments':'{}'}},"
        "{'index':1,'function':{'name':'look','arguments':'{}'}}]},'finish_reason':'stop'}]}\n\n";
    json_t *one = dialog_message(api, stream), *two = dialog_message(api, stream);
    const json_t *calls = json_object_get(one, "calls");
    CHECK(json_equal(one, two));
    CHECK_UINT(json_array_size(calls), 2);
    const char *first = api_text(json_array_get(calls, 0), "id"), *second = api_text(json_array_get(calls, 1), "id");
    CHECK_UINT(strlen(first), 9);
    CHECK(strcmp(first, second) != 0);
    json_decref(one);
    json_decref(two);
}

TEST(the_same_id_twice_is_told_apart)
{
    json_t *message = dialog_message(api,
        "data: {'choices':[{'delta':{'tool_calls':[{'index':0,'id':'x','function':{'name':'a'}},"
        "{'index':1,'id':'x','function':{'name':'b'}}]},'finish_reason':'stop'}]}\n\n");
    const json_t *calls = json_object_get(message, "calls");
    CHECK_STR(api_text(json_array_get(calls, 0), "id"), "x");
    CHECK_UINT(strlen(api_text(json_array_get(calls, 1), "id")), 9);
    json_decref(message);
}

TEST(calls_of_a_whole_message_are_all_different)
{
    const char *heard = dialog_heard(api,
        "data: {'choices':[{'message':{'tool_calls':[{'id':'x','function':{'name':'a','arguments':'{}'}},"
        "{'id':'x','function':{'name':'b','arguments':'{\\'far\\':1}'}}]},'finish_reason':'stop'}]}\n\n");
    CHECK(strstr(heard, "{'calls':[{'arguments':{},'id':'x','name':'a'},{'arguments':{'far':1},'id':'"));
}

TEST(arguments_that_are_no_object_are_kept_as_they_were)
{
    static const struct {
        const char *given, *want;
    } rows[] = {
        { "", "'arguments':{}" },        { "null", "'arguments':{}" },   { "[1]", "'raw':'[1]'" },
        { "{\\'a\\':", "'raw':'{\\'a\\':'" }, { " {} ", "'arguments':{}" }, { "far", "'raw':'far'" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char stream[400];
        auto_buf struct buf text = { 0 };
        buf_printf(&text, "data: {'choices':[{'delta':{'tool_calls':[{'index':0,'id':'x','function':"
                   "{'name':'a','arguments':'%s'}}]},'finish_reason':'stop'}]}\n\n", rows[i].given);
        memcpy(stream, buf_text(&text), text.len + 1);
        CHECK(strstr(dialog_heard(api, stream), rows[i].want));
    }
}

TEST(names_that_no_tool_can_have_are_cleaned)
{
    const char *heard = dialog_heard(api, "data: {'choices':[{'delta':{'tool_calls':[{'index':0,'id':'x','function':"
                                          "{'name':'a.b/\xc3\xa4'}},{'index':1,'id':'y','function':{}}]},"
                                          "'finish_reason':'stop'}]}\n\n");
    CHECK(strstr(heard, "'name':'a_b___'"));
    CHECK(strstr(heard, "'name':'unknown'"));
}

TEST(thoughts_are_beside_the_text_and_go_back_under_their_name)
{
    const char *stream = "data: {'choices':[{'delta':{'reasoning_content':'hm'}}]}\n\n"
                         "data: {'choices':[{'delta':{'reasoning_content':'m','content':null}}]}\n\n"
                         "data: {'choices':[{'delta':{'content':'Yes'},'finish_reason':'stop'}]}\n\n";
    CHECK_STR(dialog_heard(api, stream),
              "{'message':{'content':'Yes','echo':{'openai-chat':{'thinking':'reasoning_content'}},"
              "'role':'assistant','thinking':'hmm'},'stop':'end','tokens':[-1,-1,-1,-1,-1]}");
    struct inquiry inquiry = dialog_about("[]");
    json_t *list = dialog_json("[]"), *message = dialog_message(api, stream);
    json_array_append_new(list, message);
    inquiry.messages = list;
    CHECK(!strstr(dialog_sent(api, &inquiry), "hmm")); // it called nothing
    json_object_set(message, "calls", dialog_json("[{'id':'a','name':'b','arguments':{}}]"));
    CHECK(strstr(dialog_sent(api, &inquiry), "{'content':'Yes','reasoning_content':'hmm','role':'assistant',"
                                             "'tool_calls'"));
    json_array_append(list, dialog_json("{'role':'tool','call':'a','name':'b','content':'c'}"));
    CHECK(strstr(dialog_sent(api, &inquiry), "hmm"));
    json_array_append(list, dialog_json("{'role':'user','content':'d'}"));
    CHECK(!strstr(dialog_sent(api, &inquiry), "hmm"));
}

TEST(details_of_reasoning_go_back_whole)
{
    const char *stream =
        "data: {'choices':[{'delta':{'reasoning':'a','reasoning_details':[{'type':'reasoning.text','index':0,"
        "'text':'a'}]}}]}\n\n"
        "data: {'choices':[{'delta':{'reasoning':'b','reasoning_details':[{'type':'reasoning.text','index':0,"
        "'text':'b','signature':'sig'}]}}]}\n\n"
        "data: {'choices':[{'delta':{'reasoning_details':[{'type':'reasoning.encrypted','index':1,'data':'x'}],"
        "'content':'c'},'finish_reason':'stop'}]}\n\n";
    CHECK_STR(dialog_heard(api, stream),
              "{'message':{'content':'c','echo':{'openai-chat':{'reasoning_details':["
              "{'index':0,'signature':'sig','text':'ab','type':'reasoning.text'},"
              "{'data':'x','index':1,'type':'reasoning.encrypted'}],'thinking':'reasoning'}},'role':'assistant',"
              "'thinking':'ab'},'stop':'end','tokens':[-1,-1,-1,-1,-1]}");
    struct inquiry inquiry = dialog_about("[]");
    json_t *list = dialog_json("[]");
    json_array_append_new(list, dialog_message(api, stream));
    inquiry.messages = list;
    CHECK(strstr(dialog_sent(api, &inquiry), "'reasoning_details':[{'index':0"));
}

TEST(content_may_be_a_list_of_thoughts_and_texts)
{
    CHECK_STR(dialog_heard(api,
        "data: {'choices':[{'delta':{'content':[{'type':'thinking','thinking':[{'type':'text','text':'hm'}]}]}}]}\n\n"
        "data: {'choices':[{'delta':{'content':[{'type':'text','text':'Yes'}]},'finish_reason':'stop'}],"
        "'usage':{'prompt_tokens':3,'completion_tokens':4}}\n\ndata: [DONE]\n\n"),
        "{'message':{'content':'Yes','role':'assistant','thinking':'hm'},'stop':'end','tokens':[3,4,-1,-1,-1]}");
}

TEST(extras_of_calls_go_back_with_them)
{
    const char *stream =
        "data: {'choices':[{'delta':{'tool_calls':[{'index':0,'id':'a','function':{'name':'x','arguments':'{}'},"
        "'extra_content':{'google':{'thought_signature':'sig'}}}]},'finish_reason':'stop'}]}\n\n";
    struct inquiry inquiry = dialog_about("[]");
    json_t *list = dialog_json("[]");
    json_array_append_new(list, dialog_message(api, stream));
    inquiry.messages = list;
    CHECK(strstr(dialog_sent(api, &inquiry),
                 "{'extra_content':{'google':{'thought_signature':'sig'}},'function':{'arguments':'{}',"
                 "'name':'x'},'id':'a'"));
}

TEST(reasoning_that_is_not_in_the_completion_is_added)
{
    CHECK(strstr(dialog_read(api, "{'choices':[{'message':{'content':'x'},'finish_reason':'stop'}],'usage':{"
                                  "'prompt_tokens':10,'completion_tokens':5,'total_tokens':35,"
                                  "'completion_tokens_details':{'reasoning_tokens':20}}}"),
                 "'tokens':[10,25,-1,-1,20]"));
    CHECK(strstr(dialog_read(api, "{'choices':[{'message':{'content':'x'},'finish_reason':'stop'}],'usage':{"
                                  "'prompt_tokens':10,'completion_tokens':25,'total_tokens':35,"
                                  "'prompt_cache_hit_tokens':4,"
                                  "'completion_tokens_details':{'reasoning_tokens':20}}}"),
                 "'tokens':[10,25,4,-1,20]"));
}

TEST(whole_answers_are_read_too)
{
    CHECK_STR(dialog_read(api, "{'id':'c','model':'m','choices':[{'index':0,'message':{'role':'assistant',"
                               "'content':null,"
                               "'tool_calls':[{'id':'a','type':'function','function':{'name':'look',"
                               "'arguments':'{}'}},"
                               "{'id':'b','type':'function','function':{'name':'go','arguments':''}}]},"
                               "'finish_reason':'tool_calls'}],'usage':{'prompt_tokens':1,'completion_tokens':2}}"),
              "{'message':{'calls':[{'arguments':{},'id':'a','name':'look'},{'arguments':{},'id':'b','name':'go'}],"
              "'content':'','role':'assistant'},'stop':'calls','tokens':[1,2,-1,-1,-1]}");
    CHECK_STR(dialog_read(api, "{'choices':[{'message':{'content':'cut'},'finish_reason':'length'}]}"),
              "{'message':{'content':'cut','role':'assistant'},'stop':'length','tokens':[-1,-1,-1,-1,-1]}");
    CHECK_STR(dialog_read(api, "{'choices':[{'message':{'content':null,'refusal':'I will not.'},"
                               "'finish_reason':'stop'}]}"),
              "{'message':{'content':'I will not.','role':'assistant'},'stop':'refused','tokens':[-1,-1,-1,-1,-1]}");
    CHECK(strstr(dialog_read(api, "{'choices':[{'message':{'content':''},"
                                  "'finish_reason':'content_filter'}]}"), "'refused'"));
}

TEST(what_makes_no_sense_is_an_error_that_shows_it)
{
    CHECK_STR(dialog_read(api, "{'choices':[]}"), "error -2: the server's answer has no message in it");
    CHECK_STR(dialog_read(api, "{}"), "error -2: the server's answer has no message in it");
    CHECK_STR(dialog_heard(api, "data: <html>no</html>\n\n"),
              "error -2: expected a JSON object from the server, got '<html>no</html>'");
    CHECK_STR(dialog_heard(api, "data: [1]\n\n"), "error -2: expected a JSON object from the server, got '[1]'");
    CHECK_STR(dialog_heard(api, "data: {'choices':[{'delta':{'content':5,'tool_calls':7}}],'usage':[]}\n\n"),
              "{'message':{'content':'','role':'assistant'},'stop':'none','tokens':[-1,-1,-1,-1,-1]}");
}

TEST(characters_that_are_none_do_not_spoil_an_answer)
{
    CHECK(strstr(dialog_heard(api, "data: {'choices':[{'delta':{'content':'a\\u0000b\\ud83dc\\ude00d\xff"
                                   "e\\ud83d\\ude00\\\\u0000'}}]}\n\n"),
                 "'content':'a\xef\xbf\xbd" "b\xef\xbf\xbd" "c\xef\xbf\xbd" "d\xef\xbf\xbd"
                 "e\xf0\x9f\x98\x80\\\\u0000'"));
    CHECK(strstr(dialog_heard(api, "data: {'id':123456789012345678901234567890,"
                                   "'choices':[{'delta':{'content':'a'}}]}\n\n"),
                 "'content':'a'"));
}

TEST(a_server_may_fail_in_the_midst_of_a_stream)
{
    CHECK_STR(dialog_heard(api, "data: {'choices':[{'delta':{'content':'x'}}]}\n\n"
                                "data: {'error':{'message':'The server had an error','type':'server_error'}}\n\n"),
              "trouble SERVER: The server had an error");
    CHECK_STR(dialog_heard(api, "data: {'error':{'code':429,'message':'slow down'},'choices':[{'delta':{},"
                                "'finish_reason':'error'}]}\n\n"),
              "trouble THROTTLE: slow down");
    CHECK_STR(dialog_heard(api, "data: {'error':{'message':'You exceeded your current quota, please check your "
                                "plan and "
                                "billing details.','code':'insufficient_quota'}}\n\n"),
              "trouble MONEY: You exceeded your current quota, please check your plan and billing details.");
    CHECK_STR(dialog_heard(api, "data: {'choices':[{'delta':{},"
                                "'finish_reason':'insufficient_system_resource'}]}\n\n"),
              "trouble SERVER: the answer was broken off");
}

TEST(answers_are_bounded)
{
    struct answer answer;
    struct refusal refusal = { 0 };
    rondo_error err;
    auto_buf struct buf event = { 0 };
    answer_init(&answer);
    buf_puts(&event, "{\"choices\":[{\"delta\":{\"content\":\"");
    for (int i = 0; i < 1 << 20; i++)
        buf_putc(&event, 'x');
    buf_puts(&event, "\"}}]}");
    for (int i = 0; i < 32; i++)
        CHECK_INT(api->hear(&answer, "", event.data, event.len, &refusal, &err), 0);
    CHECK_INT(api->hear(&answer, "", event.data, event.len, &refusal, &err), RONDO_ELIMIT);
    CHECK_STR(err.message, "the model's answer has more than 32 MB");
    answer_clear(&answer);

    const char *call = "{\"choices\":[{\"delta\":{\"tool_calls\":[{\"function\":{\"name\":\"a\"}}]}}]}";
    for (int i = 0; i < ANSWER_CALLS; i++)
        CHECK_INT(api->hear(&answer, "", call, strlen(call), &refusal, &err), 0);
    CHECK_INT(api->hear(&answer, "", call, strlen(call), &refusal, &err), RONDO_ELIMIT);
    CHECK_STR(err.message, "the model calls more than 256 tools at a time");
    answer_clear(&answer);
}

/* ---- refusals --------------------------------------------------------------------------------------------- */

TEST(errors_mean_what_they_mean)
{
    static const struct {
        int status;
        const char *body, *want;
    } rows[] = {
        { 401, "{'error':{'message':'Incorrect API key provided','code':'invalid_api_key'}}",
          "KEY -1 0: Incorrect API key provided" },
        { 403, "{'error':{'message':'no','type':'permission'}}", "KEY -1 0: no" },
        { 402, "{'error':{'message':'Insufficient Balance'}}", "MONEY -1 0: Insufficient Balance" },
        { 429, "{'error':{'message':'You exceeded your current quota','type':'insufficient_quota',"
               "'code':'insufficient_quota'}}",
          "MONEY -1 0: You exceeded your current quota" },
        { 429, "{'error':{'message':'Your credit balance is used up','code':'credit_balance_exhausted'}}",
          "MONEY -1 0: Your credit balance is used up" },
        { 429, "{'error':{'message':'Rate limit reached for gpt-5 on tokens per min (TPM): Limit 30000. Please "
               "try again in "
               "6.5s.','code':'rate_limit_exceeded'}}",
          "THROTTLE 6500 0: Rate limit reached for gpt-5 on tokens per min (TPM): Limit 30000. Please try again "
          "in 6.5s." },
        { 429, "{'error':{'message':'Rate limit reached on tokens per day (TPD): Limit 100000. Please try again "
               "in 7m12s.'}}",
          "QUOTA 432000 0: Rate limit reached on tokens per day (TPD): Limit 100000. Please try again in 7m12s." },
        { 429, "{'error':{'message':'Rate limit exceeded: free-models-per-day','code':429}}",
          "QUOTA -1 0: Rate limit exceeded: free-models-per-day" },
        { 429, "{'error':{'message':'Please retry after 20 seconds.'}}", "THROTTLE 20000 0: Please retry after 20 "
                                                                         "seconds." },
        { 429, "{'error':{'message':'Request too large for gpt-4: Limit 10000, Requested 20000'}}",
          "TOO_LONG -1 0: Request too large for gpt-4: Limit 10000, Requested 20000" },
        { 400, "{'error':{'message':'This model has a maximum context length of 8192 tokens',"
               "'code':'context_length_exceeded'}}",
          "TOO_LONG -1 0: This model has a maximum context length of 8192 tokens" },
        { 400, "{'error':{'code':400,'message':'the request exceeds the available context size',"
               "'type':'exceed_context_size_error'}}",
          "TOO_LONG -1 0: the request exceeds the available context size" },
        { 404, "{'error':{'message':'The model `x` does not exist','code':'model_not_found'}}",
          "MODEL -1 0: The model `x` does not exist" },
        { 404, "{'error':'model x not found'}", "MODEL -1 0: model x not found" },
        { 404, "{'detail':'Not Found'}", "REQUEST -1 0: Not Found" },
        { 400, "{'error':{'message':'x is not a valid model ID','code':400}}", "MODEL -1 0: x is not a valid "
                                                                               "model ID" },
        { 422, "{'detail':[{'msg':'field required'}]}", "REQUEST -1 0: field required" },
        { 500, "{'error':{'message':'oops'}}", "SERVER -1 0: oops" },
        { 503, "{'message':'Loading model'}", "SERVER -1 0: Loading model" },
        { 529, NULL, "SERVER -1 0: " },
        { 408, NULL, "SERVER -1 0: " },
        { 409, NULL, "SERVER -1 0: " },
        { 413, NULL, "TOO_LONG -1 0: " },
        { 400, NULL, "REQUEST -1 0: " },
        { 400, "{'error':{'message':'a\\nb\\u0007\\u001b[31mc'}}", "REQUEST -1 0: a b [31mc" },
        { 502, "{'error':{'message':'Provider returned error','code':502,'metadata':{'raw':'boom'}}}",
          "SERVER -1 0: Provider returned error: boom" },
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        CHECK_STR(dialog_refused(api, rows[i].status, rows[i].body), rows[i].want);
}

TEST(what_a_server_does_not_take_is_learnt)
{
    static const struct {
        const char *message;
        unsigned manner;
    } rows[] = {
        { "Unsupported parameter: `max_tokens` is not supported with this model. Use `max_completion_tokens` "
          "instead.",
          MANNER_OLD_LIMIT },
        { "Unrecognized request argument supplied: max_completion_tokens", MANNER_OLD_LIMIT },
        { "stream_options: Extra inputs are not permitted", MANNER_NO_STREAM_OPTIONS },
        { "Unknown field strict", MANNER_NO_STRICT },
        { "Invalid schema for response_format `result`: additionalProperties", MANNER_NO_STRICT },
        { "This response_format type is unavailable now", MANNER_NO_SCHEMA },
        { "Unsupported value: temperature does not support 0.2 with this model", MANNER_NO_SAMPLING },
        { "Unrecognized request argument: reasoning_effort", MANNER_NO_EFFORT },
        { "tool_choice must be a string", MANNER_NO_NAMED_CHOICE },
        { "Tool call id was turn1_0 but must be a-z, A-Z, 0-9, with a length of 9.", MANNER_SHORT_IDS },
        { "messages must not be empty", 0 },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct refusal refusal = { 0 };
        json_t *body = json_pack("{s:{s:s}}", "error", "message", rows[i].message);
        api->refuse(400, body, &refusal);
        CHECK_INT(refusal.trouble, TROUBLE_REQUEST);
        CHECK_UINT(refusal.manners, rows[i].manner);
        json_decref(body);
    }
}
