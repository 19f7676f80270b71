/* test_openai_responses.c - OpenAI's Responses. */
#include "test.h"

#include "dialogs.h"

#include <string.h>

static const struct api *const api = &api_openai_responses;

TEST(nothing_is_kept_at_the_server)
{
    struct inquiry inquiry = dialog_about("[{'role':'user','content':'Hi'}]");
    CHECK_STR(dialog_path(api, &inquiry), "/responses");
    CHECK_STR(dialog_sent(api, &inquiry), "{'input':[{'content':'Hi','role':'user'}],'model':'some-model',"
                                          "'store':false}");
    inquiry.model = "gpt-5-mini";
    CHECK(strstr(dialog_sent(api, &inquiry), "'include':['reasoning.encrypted_content']"));
    inquiry.manners = MANNER_NO_EFFORT;
    CHECK(!strstr(dialog_sent(api, &inquiry), "include"));
}

TEST(everything_that_can_be_said_is)
{
    struct inquiry inquiry = dialog_about("[{'role':'user','content':'Hi'}]");
    inquiry.system = "Be brief.";
    inquiry.temperature = 0.5;
    inquiry.max_tokens = 100;
    inquiry.effort = "low";
    inquiry.stream = true;
    inquiry.tools = dialog_json(DIALOG_TOOLS);
    inquiry.choice = CHOICE_TOOL;
    inquiry.tool = "go";
    CHECK_STR(dialog_sent(api, &inquiry),
              "{'include':['reasoning.encrypted_content'],'input':[{'content':'Hi','role':'user'}],"
              "'instructions':'Be brief.','max_output_tokens':100,'model':'some-model','reasoning':{'effort':'low'},"
              "'store':false,'stream':true,'temperature':0.5,'tool_choice':{'name':'go','type':'function'},'tools':["
              "{'description':'Looks.','name':'look','parameters':{'additionalProperties':false,"
              "'properties':{'at':{'type':'string'}},'required':['at'],'type':'object'},'strict':true,"
              "'type':'function'},{'description':'Goes.','name':'go','parameters':{"
              "'properties':{'far':{'type':'number'}},'type':'object'},'strict':false,'type':'function'}]}");
    inquiry.manners = MANNER_NO_NAMED_CHOICE | MANNER_NO_EFFORT | MANNER_NO_SAMPLING;
    CHECK_STR(dialog_sent(api, &inquiry),
              "{'input':[{'content':'Hi','role':'user'}],'instructions':'Be brief.','max_output_tokens':100,"
              "'model':'some-model','store':false,'stream':true,'tool_choice':'required','tools':["
              "{'description':'Goes.','name':'go','parameters':{'properties':{'far':{'type':'number'}},"
              "'type':'object'},'strict':false,'type':'function'}]}");
}

TEST(schemas_are_strict_where_they_can_be)
{
    struct inquiry inquiry = dialog_about("[]");
    inquiry.schema = dialog_json("{'type':'object','properties':{},'additionalProperties':false}");
    CHECK(strstr(dialog_sent(api, &inquiry), "'strict':true,'type':'json_schema'}}"));
    inquiry.schema = dialog_json("{'type':'object'}");
    CHECK_STR(dialog_sent(api, &inquiry),
              "{'input':[],'model':'some-model','store':false,'text':{'format':{'name':'result','schema':{"
              "'type':'object'},'strict':false,'type':'json_schema'}}}");
}

TEST(a_conversation_is_a_list_of_items)
{
    struct inquiry inquiry = dialog_about(DIALOG_TALK);
    CHECK_STR(dialog_sent(api, &inquiry),
              "{'input':[{'content':[{'text':'See','type':'input_text'},"
              "{'image_url':'data:image/png;base64,iVBO','type':'input_image'},"
              "{'file_data':'data:application/pdf;base64,JVBE','filename':'a.pdf','type':'input_file'}],"
              "'role':'user'},"
              "{'arguments':'{\\'at\\':\\'x\\'}','call_id':'call_1','name':'look','type':'function_call'},"
              "{'arguments':'{}','call_id':'call_2','name':'go','type':'function_call'},"
              "{'call_id':'call_1','output':[{'text':'a cat','type':'input_text'},"
              "{'image_url':'data:image/png;base64,iVBP','type':'input_image'}],'type':'function_call_output'},"
              "{'call_id':'call_2','output':'no','type':'function_call_output'},"
              "{'content':'And?','role':'user'}],'model':'some-model','store':false}");
    inquiry.messages = dialog_json("[{'role':'assistant','content':'Ho'}]");
    CHECK_STR(dialog_sent(api, &inquiry),
              "{'input':[{'content':[{'text':'Ho','type':'output_text'}],'role':'assistant','type':'message'}],"
              "'model':'some-model','store':false}");
}

/* ---- streams ---------------------------------------------------------------------------------------------- */

#define EVENT(type, rest) "event: " type "\ndata: {'type':'" type "','sequence_number':1," rest "}\n\n"
#define CREATED                                                                                                      \
    EVENT("response.created", "'response':{'id':'resp_1','model':'gpt-5-2025','status':'in_progress','output':[]}")
#define USAGE                                                                                                       \
    "'usage':{'input_tokens':50,'input_tokens_details':{'cached_tokens':32},'output_tokens':20,"                      \
    "'output_tokens_details':{'reasoning_tokens':12},'total_tokens':70}"

#define STREAM                                                                                                       \
    CREATED EVENT("response.in_progress", "'response':{}")                                                            \
    EVENT("response.output_item.added", "'output_index':0,'item':{'id':'rs_1','type':'reasoning','summary':[]}")      \
    EVENT("response.reasoning_summary_text.delta", "'output_index':0,'delta':'hm'")                                   \
    EVENT("response.output_item.done", "'output_index':0,'item':{'id':'rs_1','type':'reasoning','status':'completed'," \
          "'summary':[{'type':'summary_text','text':'hm'}],'encrypted_content':'gAAA'}")                              \
    EVENT("response.output_item.added", "'output_index':1,'item':{'id':'msg_1','type':'message','content':[]}")       \
    EVENT("response.output_text.delta", "'output_index':1,'content_index':0,'delta':'Hel'")                           \
    EVENT("response.output_text.delta", "'output_index':1,'content_index':0,'delta':'lo'")                            \
    EVENT("response.output_item.done", "'output_index':1,'item':{'id':'msg_1','type':'message','role':'assistant',"   \
          "'status':'completed','content':[{'type':'output_text','text':'Hello'}]}")                                  \
    EVENT("response.output_item.added", "'output_index':2,'item':{'id':'fc_1','type':'function_call',"                \
          "'call_id':'call_1','name':'look','arguments':''}")                                                         \
    EVENT("response.output_item.added", "'output_index':3,'item':{'id':'fc_2','type':'function_call',"                \
          "'call_id':'call_2','name':'go','arguments':''}")                                                           \
    EVENT("response.function_call_arguments.delta", "'output_index':2,'delta':'{\\'at\\':'")                          \
    EVENT("response.function_call_arguments.delta", "'output_index':2,'delta':'\\'x\\'}'")                            \
    EVENT("response.function_call_arguments.done", "'output_index':2,'arguments':'{\\'at\\':\\'x\\'}'")               \
    EVENT("response.output_item.done", "'output_index':2,'item':{'id':'fc_1','type':'function_call',"                 \
          "'call_id':'call_1','name':'look','arguments':'{\\'at\\':\\'x\\'}'}")                                       \
    EVENT("response.output_item.done", "'output_index':3,'item':{'id':'fc_2','type':'function_call',"                 \
          "'call_id':'call_2','name':'go','arguments':'{}'}")                                                         \
    EVENT("response.completed", "'response':{'id':'resp_1','model':'gpt-5-2025','status':'completed'," USAGE "}")

#define ITEMS                                                                                                         \
    "[{'encrypted_content':'gAAA','id':'rs_1','summary':[{'text':'hm','type':'summary_text'}],'type':'reasoning'},"   \
    "{'content':[{'text':'Hello','type':'output_text'}],'role':'assistant','type':'message'},"                        \
    "{'arguments':'{\\'at\\':\\'x\\'}','call_id':'call_1','name':'look','type':'function_call'},"                     \
    "{'arguments':'{}','call_id':'call_2','name':'go','type':'function_call'}]"

#define MESSAGE                                                                                                       \
    "{'message':{'calls':[{'arguments':{'at':'x'},'id':'call_1','name':'look'},"                                      \
    "{'arguments':{},'id':'call_2','name':'go'}],'content':'Hello','echo':{'openai-responses':" ITEMS "},"            \
    "'role':'assistant','thinking':'hm'},'stop':'calls','tokens':[50,20,32,-1,12]}"

TEST(items_come_in_pieces_and_go_back_whole)
{
    CHECK_STR(dialog_heard(api, STREAM), MESSAGE);
    json_t *list = dialog_json("[]");
    json_array_append_new(list, dialog_message(api, STREAM));
    struct inquiry inquiry = dialog_about("[]");
    inquiry.messages = list;
    CHECK_STR(dialog_sent(api, &inquiry), "{'input':" ITEMS ",'model':'some-model','store':false}");
}

TEST(the_whole_is_read_alike)
{
    CHECK_STR(dialog_read(api, "{'id':'resp_1','object':'response','status':'completed','error':null,'model':'gpt-5',"
                               "'output':" ITEMS "," USAGE "}"), MESSAGE);
}

TEST(servers_that_tell_no_items_have_them_at_the_end)
{
    CHECK_STR(dialog_heard(api, EVENT("response.completed", "'response':{'id':'r','status':'completed',"
                                                            "'output':" ITEMS ","
                                                            USAGE "}")), MESSAGE);
    CHECK_STR(dialog_heard(api, EVENT("response.output_item.done", "'output_index':0,'item':{'type':'message',"
                                      "'role':'assistant','content':[{'type':'output_text','text':'Hi'}]}")
                                EVENT("response.completed", "'response':{'status':'completed'}") "data: [DONE]\n\n"),
              "{'message':{'content':'Hi','role':'assistant'},'stop':'end','tokens':[-1,-1,-1,-1,-1]}");
}

TEST(items_may_have_ids_instead_of_places)
{
    CHECK_STR(dialog_heard(api, EVENT("response.output_item.added", "'item':{'id':'fc_1','type':'function_call',"
                                      "'call_id':'c1','name':'a'}")
                                EVENT("response.output_item.added", "'item':{'id':'fc_2','type':'function_call',"
                                      "'call_id':'c2','name':'b'}")
                                EVENT("response.function_call_arguments.delta", "'item_id':'fc_2','delta':'{\\'x\\':'")
                                EVENT("response.function_call_arguments.delta", "'item_id':'fc_1','delta':'{}'")
                                EVENT("response.function_call_arguments.delta", "'item_id':'fc_2','delta':'1}'")
                                EVENT("response.output_item.done", "'item':{'id':'fc_2','type':'function_call',"
                                      "'call_id':'c2','name':'b','arguments':'{\\'x\\':1}'}")
                                EVENT("response.completed", "'response':{'status':'completed'}")),
              "{'message':{'calls':[{'arguments':{},'id':'c1','name':'a'},{'arguments':{'x':1},'id':'c2','name':'b'}],"
              "'content':'','role':'assistant'},'stop':'calls','tokens':[-1,-1,-1,-1,-1]}");
}

TEST(answers_that_are_cut_or_refused)
{
    CHECK(strstr(dialog_heard(api, CREATED EVENT("response.output_text.delta", "'delta':'x'")
                                   EVENT("response.incomplete", "'response':{'status':'incomplete',"
                                         "'incomplete_details':{'reason':'max_output_tokens'}}")), "'stop':'length'"));
    CHECK(strstr(dialog_heard(api, EVENT("response.incomplete", "'response':{'status':'incomplete','output':[],"
                                         "'incomplete_details':{'reason':'content_filter'}}")), "'stop':'refused'"));
    CHECK_STR(dialog_heard(api, CREATED EVENT("response.refusal.delta", "'delta':'No.'")
                                EVENT("response.completed", "'response':{'status':'completed'}")),
              "{'message':{'content':'No.','role':'assistant'},'stop':'refused','tokens':[-1,-1,-1,-1,-1]}");
    CHECK(strstr(dialog_heard(api, CREATED EVENT("response.output_text.delta", "'delta':'x'")), "'stop':'none'"));
}

TEST(failures_come_in_streams)
{
    CHECK_STR(dialog_heard(api, CREATED EVENT("response.failed", "'response':{'status':'failed','error':{"
                                "'code':'server_error','message':'The model failed'}}")),
              "trouble SERVER: The model failed");
    CHECK_STR(dialog_heard(api, EVENT("response.failed", "'response':{'status':'failed','error':{"
                                "'code':'rate_limit_exceeded','message':'Slow down. Please try again in 3s.'}}")),
              "trouble THROTTLE: Slow down. Please try again in 3s.");
    CHECK_STR(dialog_heard(api, EVENT("error", "'code':'insufficient_quota','message':'No money','param':null")),
              "trouble MONEY: No money");
    CHECK_STR(dialog_heard(api, EVENT("error", "'error':{'type':'invalid_request_error','message':'bad'}")),
              "trouble REQUEST: bad");
    CHECK_STR(dialog_read(api, "{'status':'failed','error':{'code':'server_error','message':'oops'},'output':[]}"),
              "trouble SERVER: oops");
}

TEST(garbage_is_refused_or_left_alone)
{
    CHECK_STR(dialog_read(api, "{}"), "error -2: the server's answer has no output in it");
    CHECK_STR(dialog_heard(api, "data: {]\n\n"), "error -2: expected a JSON object from the server, got '{]'");
    CHECK(strstr(dialog_heard(api, EVENT("response.output_item.done", "'item':5")
                                   EVENT("response.output_text.delta", "'delta':{}")
                                   EVENT("response.function_call_arguments.delta", "'delta':'x'")
                                   EVENT("response.new", "'a':1")), "'raw':'x'}],'content':'','role':'assistant'}"));
}
