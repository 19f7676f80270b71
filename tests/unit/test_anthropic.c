/* test_anthropic.c - Anthropic's Messages. */
#include "test.h"

#include "dialogs.h"

#include <string.h>

static const struct api *const api = &api_anthropic;

#define MARK "'cache_control':{'type':'ephemeral'}"

TEST(an_answer_is_always_given_a_length)
{
    struct inquiry inquiry = dialog_about("[{'role':'user','content':'Hi'}]");
    CHECK_STR(dialog_path(api, &inquiry), "/v1/messages");
    CHECK_STR(dialog_headers(api, &inquiry), "anthropic-version: 2023-06-01\n");
    CHECK_STR(dialog_sent(api, &inquiry),
              "{'max_tokens':16384,'messages':[{'content':[{" MARK ",'text':'Hi','type':'text'}],'role':'user'}],"
              "'model':'some-model'}");
    inquiry.model = "claude-3-haiku-20240307";
    CHECK(strstr(dialog_sent(api, &inquiry), "'max_tokens':4096"));
    inquiry.max_tokens = 77;
    CHECK(strstr(dialog_sent(api, &inquiry), "'max_tokens':77"));
}

TEST(marks_are_behind_tools_system_and_the_last_message)
{
    struct inquiry inquiry = dialog_about("[{'role':'user','content':'Hi'},{'role':'assistant','content':'Ho'},"
                                          "{'role':'user','content':'Hu'}]");
    inquiry.system = "Be brief.";
    inquiry.tools = dialog_json(DIALOG_TOOLS);
    inquiry.choice = CHOICE_TOOL;
    inquiry.tool = "go";
    inquiry.temperature = 1.5;
    inquiry.top_p = 0.5;
    inquiry.stream = true;
    CHECK_STR(dialog_sent(api, &inquiry),
              "{'max_tokens':16384,'messages':[{'content':[{" MARK ",'text':'Hi','type':'text'}],'role':'user'},"
              "{'content':[{'text':'Ho','type':'text'}],'role':'assistant'},"
              "{'content':[{" MARK ",'text':'Hu','type':'text'}],'role':'user'}],'model':'some-model','stream':true,"
              "'system':[{" MARK ",'text':'Be brief.','type':'text'}],'temperature':1.0,"
              "'tool_choice':{'name':'go','type':'tool'},'tools':[{'description':'Looks.','input_schema':{"
              "'additionalProperties':false,'properties':{'at':{'type':'string'}},'required':['at'],'type':'object'},"
              "'name':'look'},{" MARK ",'description':'Goes.','input_schema':{"
              "'properties':{'far':{'type':'number'}},'type':'object'},'name':'go'}]}");
    inquiry.choice = CHOICE_ANY;
    CHECK(strstr(dialog_sent(api, &inquiry), "'tool_choice':{'type':'any'}"));
    inquiry.choice = CHOICE_NONE;
    CHECK(strstr(dialog_sent(api, &inquiry), "'tool_choice':{'type':'none'}"));
}

TEST(results_and_what_follows_are_one_message)
{
    struct inquiry inquiry = dialog_about(DIALOG_TALK);
    CHECK_STR(dialog_sent(api, &inquiry),
              "{'max_tokens':16384,'messages':[{'content':[{'text':'See','type':'text'},"
              "{'source':{'data':'iVBO','media_type':'image/png','type':'base64'},'type':'image'},"
              "{" MARK ",'source':{'data':'JVBE','media_type':'application/pdf','type':'base64'},'title':'a.pdf',"
              "'type':'document'}],'role':'user'},"
              "{'content':[{'id':'call_1','input':{'at':'x'},'name':'look','type':'tool_use'},"
              "{'id':'call_2','input':{},'name':'go','type':'tool_use'}],'role':'assistant'},"
              "{'content':[{'content':[{'text':'a cat','type':'text'},"
              "{'source':{'data':'iVBP','media_type':'image/png','type':'base64'},'type':'image'}],"
              "'tool_use_id':'call_1','type':'tool_result'},"
              "{'content':[{'text':'no','type':'text'}],'is_error':true,'tool_use_id':'call_2','type':'tool_result'},"
              "{" MARK ",'text':'And?','type':'text'}],'role':'user'}],'model':'some-model'}");
}

TEST(what_is_empty_is_left_out_and_strange_ids_are_cleaned)
{
    struct inquiry inquiry = dialog_about(
        "[{'role':'user','content':'a'},{'role':'assistant','content':''},{'role':'user','content':'b'},"
        "{'role':'assistant','content':'','calls':[{'id':'call:1.x','name':'t','arguments':{}}]},"
        "{'role':'tool','call':'call:1.x','name':'t','content':''}]");
    CHECK_STR(dialog_sent(api, &inquiry),
              "{'max_tokens':16384,'messages':[{'content':[{'text':'a','type':'text'}],'role':'user'},"
              "{'content':[{" MARK ",'text':'b','type':'text'}],'role':'user'},"
              "{'content':[{'id':'call_1_x','input':{},'name':'t','type':'tool_use'}],'role':'assistant'},"
              "{'content':[{" MARK ",'tool_use_id':'call_1_x','type':'tool_result'}],'role':'user'}],"
              "'model':'some-model'}");
}

TEST(effort_is_said_as_the_model_takes_it)
{
    static const struct {
        const char *model, *effort, *want;
        int64_t max_tokens;
    } rows[] = {
        { "claude-sonnet-4-6", "medium", "'max_tokens':32768,", 0 },
        { "claude-sonnet-4-6", "medium", "'output_config':{'effort':'medium'},'thinking':{'type':'adaptive'}", 0 },
        { "claude-opus-5", "max", "'output_config':{'effort':'max'},'thinking':{'type':'adaptive'}", 0 },
        { "claude-sonnet-4-5", "high", "'thinking':{'budget_tokens':16384,'type':'enabled'}", 0 },
        { "claude-sonnet-4-5", "high", "'max_tokens':32768,", 0 },
        { "claude-sonnet-4-5", "high", "'thinking':{'budget_tokens':3999,'type':'enabled'}", 4000 },
        { "claude-sonnet-4-5", "high", "'max_tokens':4000,", 4000 },
    };
    struct inquiry inquiry = dialog_about("[{'role':'user','content':'Hi'}]");
    for (size_t i = 0; i < COUNT(rows); i++) {
        inquiry.model = rows[i].model;
        inquiry.effort = rows[i].effort;
        inquiry.max_tokens = rows[i].max_tokens;
        inquiry.temperature = 0.3; // not taken beside thoughts
        CHECK(strstr(dialog_sent(api, &inquiry), rows[i].want));
        CHECK(!strstr(dialog_sent(api, &inquiry), "temperature"));
    }
    inquiry.tools = dialog_json(DIALOG_TOOLS);
    CHECK(strstr(dialog_headers(api, &inquiry), "anthropic-beta: interleaved-thinking-2025-05-14\n"));
}

TEST(nobody_thinks_where_it_is_not_allowed)
{
    struct inquiry inquiry = dialog_about("[{'role':'user','content':'Hi'}]");
    inquiry.tools = dialog_json(DIALOG_TOOLS);
    inquiry.tool = "go";
    inquiry.effort = "high";
    inquiry.model = "claude-3-5-haiku-latest";
    CHECK(!strstr(dialog_sent(api, &inquiry), "thinking"));
    inquiry.model = "claude-sonnet-4-5";
    inquiry.choice = CHOICE_TOOL;
    CHECK(!strstr(dialog_sent(api, &inquiry), "thinking"));
    inquiry.choice = CHOICE_AUTO;
    inquiry.effort = "none";
    CHECK(!strstr(dialog_sent(api, &inquiry), "thinking"));
    inquiry.effort = "high";
    inquiry.max_tokens = 1000;
    CHECK(!strstr(dialog_sent(api, &inquiry), "thinking"));
    inquiry.max_tokens = 0;
    inquiry.messages = dialog_json( // another server made the call
        "[{'role':'user','content':'a'},{'role':'assistant','content':'','calls':[{'id':'c','name':'t',"
        "'arguments':{}}]},{'role':'tool','call':'c','name':'t','content':'r'}]");
    CHECK(!strstr(dialog_sent(api, &inquiry), "thinking"));
}

TEST(a_schema_that_is_plain_is_sent_and_others_are_told)
{
    struct inquiry inquiry = dialog_about("[]");
    inquiry.schema = dialog_json("{'type':'object','properties':{'a':{'type':'number'}},'required':['a'],"
                                 "'additionalProperties':false}");
    CHECK(strstr(dialog_sent(api, &inquiry), "'output_config':{'format':{'schema':{'additionalProperties':false"));
    CHECK(!strstr(dialog_sent(api, &inquiry), "'system'"));
    inquiry.schema = dialog_json("{'type':'object','properties':{'a':{'type':'number','minimum':1}},"
                                 "'required':['a'],'additionalProperties':false}");
    CHECK(!strstr(dialog_sent(api, &inquiry), "output_config"));
    CHECK(strstr(dialog_sent(api, &inquiry), "'system':[{" MARK ",'text':'Answer with one JSON value"));
}

/* ---- streams ---------------------------------------------------------------------------------------------- */

#define START                                                                                                       \
    "event: message_start\ndata: {'type':'message_start','message':{'id':'msg_1','type':'message','role':'assistant'," \
    "'model':'claude-x','content':[],'stop_reason':null,'usage':{'input_tokens':10,'cache_creation_input_tokens':20," \
    "'cache_read_input_tokens':300,'output_tokens':1}}}\n\n"
#define BLOCK(i, block)                                                                                             \
    "event: content_block_start\ndata: {'type':'content_block_start','index':" i ",'content_block':" block "}\n\n"
#define DELTA(i, delta)                                                                                             \
    "event: content_block_delta\ndata: {'type':'content_block_delta','index':" i ",'delta':" delta "}\n\n"
#define STOP(i) "event: content_block_stop\ndata: {'type':'content_block_stop','index':" i "}\n\n"
#define PING "event: ping\ndata: {'type':'ping'}\n\n"
#define END(why, tokens)                                                                                            \
    "event: message_delta\ndata: {'type':'message_delta','delta':{'stop_reason':'" why "','stop_sequence':null}," \
    "'usage':{'output_tokens':" tokens "}}\n\nevent: message_stop\ndata: {'type':'message_stop'}\n\n"

TEST(a_text_comes_in_pieces_and_what_was_cached_is_input_too)
{
    CHECK_STR(dialog_heard(api, START BLOCK("0", "{'type':'text','text':''}") PING
                                DELTA("0", "{'type':'text_delta','text':'Hel'}")
                                DELTA("0", "{'type':'text_delta','text':'lo'}")
                                "event: new_thing\ndata: {'type':'new_thing','x':1}\n\n"
                                STOP("0") END("end_turn", "25")),
              "{'message':{'content':'Hello','role':'assistant'},'stop':'end','tokens':[330,25,300,20,-1]}");
}

#define CALLS_STREAM                                                                                                \
    START BLOCK("0", "{'type':'text','text':''}") DELTA("0", "{'type':'text_delta','text':'Let me see.'}") STOP("0")  \
    BLOCK("1", "{'type':'tool_use','id':'toolu_1','name':'look','input':{}}")                                        \
    DELTA("1", "{'type':'input_json_delta','partial_json':''}")                                                      \
    DELTA("1", "{'type':'input_json_delta','partial_json':'{\\'at\\': \\'x'}")                                       \
    DELTA("1", "{'type':'input_json_delta','partial_json':'y\\'}'}") STOP("1")                                       \
    BLOCK("2", "{'type':'tool_use','id':'toolu_2','name':'go','input':{}}") STOP("2") END("tool_use", "40")

TEST(calls_come_in_pieces)
{
    CHECK_STR(dialog_heard(api, CALLS_STREAM),
              "{'message':{'calls':[{'arguments':{'at':'xy'},'id':'toolu_1','name':'look'},"
              "{'arguments':{},'id':'toolu_2','name':'go'}],'content':'Let me see.','role':'assistant'},"
              "'stop':'calls','tokens':[330,40,300,20,-1]}");
}

#define THOUGHTS_STREAM                                                                                             \
    START BLOCK("0", "{'type':'thinking','thinking':'','signature':''}")                                             \
    DELTA("0", "{'type':'thinking_delta','thinking':'hm'}") DELTA("0", "{'type':'thinking_delta','thinking':'m'}")     \
    DELTA("0", "{'type':'signature_delta','signature':'sig1'}") STOP("0")                                            \
    BLOCK("1", "{'type':'redacted_thinking','data':'secret'}") STOP("1")                                             \
    BLOCK("2", "{'type':'text','text':''}") DELTA("2", "{'type':'text_delta','text':'A'}") STOP("2")                  \
    BLOCK("3", "{'type':'thinking','thinking':'','signature':''}")                                                   \
    DELTA("3", "{'type':'thinking_delta','thinking':'aha'}") DELTA("3", "{'type':'signature_delta','signature':'s2'}") \
    STOP("3") BLOCK("4", "{'type':'text','text':''}") DELTA("4", "{'type':'text_delta','text':'B'}") STOP("4")        \
    BLOCK("5", "{'type':'tool_use','id':'toolu_1','name':'go','input':{}}")                                          \
    DELTA("5", "{'type':'input_json_delta','partial_json':'{\\'far\\':1}'}") STOP("5") END("tool_use", "9")

#define THOUGHTS                                                                                                     \
    "[{'signature':'sig1','thinking':'hmm','type':'thinking'},{'data':'secret','type':'redacted_thinking'},"         \
    "{'text':'A','type':'text'},{'signature':'s2','thinking':'aha','type':'thinking'},{'text':'B','type':'text'},"   \
    "{'id':'toolu_1','input':{'far':1},'name':'go','type':'tool_use'}]"

TEST(thoughts_go_back_as_they_were)
{
    CHECK_STR(dialog_heard(api, THOUGHTS_STREAM),
              "{'message':{'calls':[{'arguments':{'far':1},'id':'toolu_1','name':'go'}],'content':'AB','echo':{"
              "'anthropic':" THOUGHTS "},'role':'assistant','thinking':'hmmaha'},'stop':'calls',"
              "'tokens':[330,9,300,20,-1]}");
    json_t *list = dialog_json("[]");
    json_array_append_new(list, dialog_message(api, THOUGHTS_STREAM));
    struct inquiry inquiry = dialog_about("[]");
    inquiry.messages = list;
    CHECK_STR(dialog_sent(api, &inquiry), "{'max_tokens':16384,'messages':[{'content':" THOUGHTS
                                          ",'role':'assistant'}],'model':'some-model'}");
    json_array_append_new(list, dialog_json("{'role':'tool','call':'toolu_1','name':'go','content':'gone'}"));
    inquiry.effort = "low";
    inquiry.model = "claude-sonnet-4-5";
    CHECK(strstr(dialog_sent(api, &inquiry), "'thinking':{'budget_tokens'"));
}

TEST(whole_answers_are_read_alike)
{
    CHECK_STR(dialog_read(api, "{'id':'msg','type':'message','role':'assistant','model':'m','content':" THOUGHTS
                               ",'stop_reason':'tool_use','usage':{'input_tokens':5,'output_tokens':6}}"),
              "{'message':{'calls':[{'arguments':{'far':1},'id':'toolu_1','name':'go'}],'content':'AB','echo':{"
              "'anthropic':" THOUGHTS "},'role':'assistant','thinking':'hmmaha'},'stop':'calls','tokens':[5,6,-1,"
                                      "-1,-1]}");
}

TEST(why_it_stopped)
{
    static const struct {
        const char *word, *want;
    } rows[] = {
        { "end_turn", "'stop':'end'" },     { "stop_sequence", "'stop':'end'" }, { "max_tokens", "'stop':'length'" },
        { "refusal", "'stop':'refused'" },  { "pause_turn", "'stop':'paused'" },
        { "model_context_window_exceeded", "'stop':'length'" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        auto_buf struct buf body = { 0 };
        buf_printf(&body, "{'content':[{'type':'text','text':'x'}],'stop_reason':'%s'}", rows[i].word);
        CHECK(strstr(dialog_read(api, buf_text(&body)), rows[i].want));
    }
}

TEST(a_stream_that_breaks_off_has_no_stop)
{
    CHECK_STR(dialog_heard(api, START BLOCK("0", "{'type':'text','text':''}") DELTA("0", "{'type':'text_delta',"
                                                                                         "'text':'x'}")),
              "{'message':{'content':'x','role':'assistant'},'stop':'none','tokens':[330,1,300,20,-1]}");
}

TEST(errors_come_in_streams_and_before_them)
{
    CHECK_STR(dialog_heard(api, START "event: error\ndata: {'type':'error','error':{'type':'overloaded_error',"
                                      "'message':'Overloaded'}}\n\n"),
              "trouble SERVER: Overloaded");
    CHECK_STR(dialog_heard(api, "event: error\ndata: {'type':'error','error':{'type':'rate_limit_error',"
                                "'message':'no'}}\n\n"),
              "trouble THROTTLE: no");
    CHECK_STR(dialog_heard(api, "event: error\ndata: {'type':'error','error':{'type':'invalid_request_error',"
                                "'message':'messages: bad'}}\n\n"),
              "trouble REQUEST: messages: bad");
    static const struct {
        int status;
        const char *type, *message, *want;
    } rows[] = {
        { 400, "invalid_request_error", "Your credit balance is too low to access the Anthropic API.", "MONEY" },
        { 400, "invalid_request_error", "You have reached your specified API usage limits.", "MONEY" },
        { 400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum", "TOO_LONG" },
        { 401, "authentication_error", "invalid x-api-key", "KEY" },
        { 403, "permission_error", "no", "KEY" },
        { 404, "not_found_error", "model: claude-nope", "MODEL" },
        { 413, "request_too_large", "too large", "TOO_LONG" },
        { 429, "rate_limit_error", "This request would exceed your rate limit of 50 requests per "
                                   "minute", "THROTTLE" },
        { 429, "enforced_spend_limit_reached", "no", "MONEY" },
        { 500, "api_error", "Internal server error", "SERVER" },
        { 529, "overloaded_error", "Overloaded", "SERVER" },
        { 400, "invalid_request_error", "max_tokens: Field required", "REQUEST" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        auto_buf struct buf body = { 0 };
        buf_printf(&body, "{'type':'error','error':{'type':'%s','message':'%s'}}", rows[i].type, rows[i].message);
        const char *refused = dialog_refused(api, rows[i].status, buf_text(&body));
        CHECK_UINT(strcspn(refused, " "), strlen(rows[i].want));
        CHECK_MEM(refused, rows[i].want, strlen(rows[i].want));
    }
}

TEST(garbage_is_refused_or_left_alone)
{
    CHECK_STR(dialog_read(api, "{'type':'message'}"), "error -2: the server's answer has no content in it");
    CHECK_STR(dialog_heard(api, "data: nonsense\n\n"),
              "error -2: expected a JSON object from the server, got 'nonsense'");
    CHECK_STR(dialog_heard(api, "data: {'type':'content_block_delta','index':9,'delta':{'type':'input_json_delta',"
                                "'partial_json':'{}'}}\n\n"
                                "data: {'type':'content_block_delta','index':-1,'delta':{'type':'signature_delta',"
                                "'signature':'x'}}\n\n"
                                "data: {'type':'content_block_start','content_block':7}\n\n"
                                "data: {'type':'message_delta','delta':[],'usage':'x'}\n\n"),
              "{'message':{'content':'','role':'assistant'},'stop':'none','tokens':[-1,-1,-1,-1,-1]}");
}
