/* test_gemini.c - Google's Gemini. */
#include "test.h"

#include "dialogs.h"

#include <string.h>

static const struct api *const api = &api_gemini;

TEST(the_model_is_in_the_path)
{
    struct inquiry inquiry = dialog_about("[{'role':'user','content':'Hi'}]");
    inquiry.model = "gemini-3-flash";
    CHECK_STR(dialog_path(api, &inquiry), "/v1beta/models/gemini-3-flash:generateContent");
    CHECK_STR(dialog_sent(api, &inquiry), "{'contents':[{'parts':[{'text':'Hi'}],'role':'user'}]}");
    inquiry.stream = true;
    CHECK_STR(dialog_path(api, &inquiry), "/v1beta/models/gemini-3-flash:streamGenerateContent?alt=sse");
    inquiry.model = "tunedModels/my one?";
    CHECK_STR(dialog_path(api, &inquiry), "/v1beta/tunedModels/my%20one%3F:streamGenerateContent?alt=sse");
}

TEST(everything_that_can_be_said_is)
{
    struct inquiry inquiry = dialog_about("[{'role':'user','content':'Hi'}]");
    inquiry.model = "gemini-2.5-flash";
    inquiry.system = "Be brief.";
    inquiry.temperature = 0.5;
    inquiry.top_p = 0.25;
    inquiry.max_tokens = 100;
    inquiry.effort = "medium";
    inquiry.tools = dialog_json(DIALOG_TOOLS);
    inquiry.choice = CHOICE_TOOL;
    inquiry.tool = "go";
    inquiry.schema = dialog_json("{'type':'object'}");
    CHECK_STR(dialog_sent(api, &inquiry),
              "{'contents':[{'parts':[{'text':'Hi'}],'role':'user'}],'generationConfig':{'maxOutputTokens':100,"
              "'responseJsonSchema':{'type':'object'},'responseMimeType':'application/json','temperature':0.5,"
              "'thinkingConfig':{'includeThoughts':true,'thinkingBudget':8192},'topP':0.25},"
              "'systemInstruction':{'parts':[{'text':'Be brief.'}]},"
              "'toolConfig':{'functionCallingConfig':{'allowedFunctionNames':['go'],'mode':'ANY'}},"
              "'tools':[{'functionDeclarations':[{'description':'Looks.','name':'look','parametersJsonSchema':{"
              "'additionalProperties':false,'properties':{'at':{'type':'string'}},'required':['at'],"
              "'type':'object'}},{'description':'Goes.','name':'go','parametersJsonSchema':{"
              "'properties':{'far':{'type':'number'}},'type':'object'}}]}]}");
    inquiry.model = "gemini-3-pro";
    CHECK(strstr(dialog_sent(api, &inquiry), "'thinkingConfig':{'includeThoughts':true,'thinkingLevel':'medium'}"));
    inquiry.effort = "none";
    CHECK(strstr(dialog_sent(api, &inquiry), "'thinkingConfig':{'thinkingLevel':'minimal'}"));
    inquiry.choice = CHOICE_NONE;
    CHECK(strstr(dialog_sent(api, &inquiry), "'functionCallingConfig':{'mode':'NONE'}"));
}

TEST(calls_of_others_have_no_signature_that_could_be_wrong)
{
    struct inquiry inquiry = dialog_about(DIALOG_TALK);
    inquiry.model = "gemini-2.5-pro";
    CHECK_STR(dialog_sent(api, &inquiry),
              "{'contents':[{'parts':[{'text':'See'},{'inlineData':{'data':'iVBO','mimeType':'image/png'}},"
              "{'inlineData':{'data':'JVBE','mimeType':'application/pdf'}}],'role':'user'},"
              "{'parts':[{'functionCall':{'args':{'at':'x'},'name':'look'}},{'functionCall':{'args':{},"
              "'name':'go'}}],"
              "'role':'model'},{'parts':[{'functionResponse':{'name':'look','response':{'result':'a cat'}}},"
              "{'inlineData':{'data':'iVBP','mimeType':'image/png'}},"
              "{'functionResponse':{'name':'go','response':{'error':'no'}}},{'text':'And?'}],'role':'user'}]}");
    inquiry.model = "gemini-3-pro";
    CHECK(strstr(dialog_sent(api, &inquiry), "{'functionCall':{'args':{'at':'x'},'name':'look'},"
                                             "'thoughtSignature':'skip_thought_signature_validator'},"
                                             "{'functionCall':{'args':{},'name':'go'}}"));
}

/* ---- streams ---------------------------------------------------------------------------------------------- */

TEST(a_text_comes_in_pieces_and_thoughts_are_output)
{
    CHECK_STR(dialog_heard(api,
        "data: {'candidates':[{'content':{'parts':[{'text':'hm','thought':true}],'role':'model'},'index':0}],"
        "'usageMetadata':{'promptTokenCount':40,'thoughtsTokenCount':7,'totalTokenCount':47},"
        "'modelVersion':'gemini-x',"
        "'responseId':'r1'}\r\n\r\n"
        "data: {'candidates':[{'content':{'parts':[{'text':'Hel'}],'role':'model'},'index':0}]}\r\n\r\n"
        "data: {'candidates':[{'content':{'parts':[{'text':'lo'}],'role':'model'},'finishReason':'STOP','index':0}],"
        "'usageMetadata':{'promptTokenCount':40,'candidatesTokenCount':3,'thoughtsTokenCount':7,"
        "'cachedContentTokenCount':32,'totalTokenCount':50}}\r\n\r\n"),
        "{'message':{'content':'Hello','role':'assistant','thinking':'hm'},'stop':'end','tokens':[40,10,32,-1,7]}");
}

#define SIGNED                                                                                                       \
    "data: {'candidates':[{'content':{'parts':[{'text':'thought','thought':true},{'text':'Let '}]}}]}\n\n"           \
    "data: {'candidates':[{'content':{'parts':[{'text':'me.'}]}}]}\n\n"                                              \
    "data: {'candidates':[{'content':{'parts':[{'functionCall':{'id':'f1','name':'look','args':{'at':'x'}},"          \
    "'thoughtSignature':'SIG'},{'functionCall':{'id':'f2','name':'go','args':{}}}]},'finishReason':'STOP'}]}\n\n"      \
    "data: {'candidates':[{'content':{'parts':[{'text':'','thoughtSignature':'END'}]},'finishReason':'STOP'}]}\n\n"

#define PARTS                                                                                                        \
    "[{'text':'Let me.'},{'functionCall':{'args':{'at':'x'},'id':'f1','name':'look'},'thoughtSignature':'SIG'},"      \
    "{'functionCall':{'args':{},'id':'f2','name':'go'}},{'text':'','thoughtSignature':'END'}]"

TEST(signatures_and_ids_go_back)
{
    CHECK_STR(dialog_heard(api, SIGNED),
              "{'message':{'calls':[{'arguments':{'at':'x'},'id':'f1','name':'look'},{'arguments':{},'id':'f2',"
              "'name':'go'}],'content':'Let me.','echo':{'gemini':" PARTS "},'role':'assistant',"
                                                                          "'thinking':'thought'},"
              "'stop':'calls','tokens':[-1,-1,-1,-1,-1]}");
    json_t *list = dialog_json("[]");
    json_array_append_new(list, dialog_message(api, SIGNED));
    json_array_append_new(list, dialog_json("{'role':'tool','call':'f1','name':'look','content':'1'}"));
    json_array_append_new(list, dialog_json("{'role':'tool','call':'f2','name':'go','content':'2'}"));
    struct inquiry inquiry = dialog_about("[]");
    inquiry.messages = list;
    CHECK_STR(dialog_sent(api, &inquiry),
              "{'contents':[{'parts':" PARTS ",'role':'model'},{'parts':["
              "{'functionResponse':{'id':'f1','name':'look','response':{'result':'1'}}},"
              "{'functionResponse':{'id':'f2','name':'go','response':{'result':'2'}}}],'role':'user'}]}");
}

TEST(whole_answers_and_calls_without_ids)
{
    CHECK(strstr(dialog_read(api, "{'candidates':[{'content':{'parts':[{'functionCall':{'name':'go'}}]},"
                                  "'finishReason':'STOP'}],'usageMetadata':{'promptTokenCount':1}}"),
                 "'name':'go'}],'content':'','role':'assistant'},'stop':'calls','tokens':[1,0,-1,-1,-1]}"));
    CHECK_STR(dialog_read(api, "{'candidates':[{'content':{'parts':[{'text':'x'}]}}]}"),
              "{'message':{'content':'x','role':'assistant'},'stop':'end','tokens':[-1,-1,-1,-1,-1]}");
    CHECK(strstr(dialog_read(api, "{'candidates':[{'content':{},'finishReason':'MAX_TOKENS'}]}"), "'stop':'length'"));
    CHECK(strstr(dialog_read(api, "{'candidates':[{'finishReason':'SAFETY'}]}"), "'stop':'refused'"));
    CHECK(strstr(dialog_read(api, "{'promptFeedback':{'blockReason':'OTHER'}}"), "'stop':'refused'"));
    CHECK_STR(dialog_read(api, "{'candidates':[{'finishReason':'MALFORMED_FUNCTION_CALL'}]}"),
              "trouble ANSWER: the model's call of a tool made no sense to the server");
    CHECK_STR(dialog_read(api, "{'usageMetadata':{}}"), "error -2: the server's answer has no candidates in it");
}

#define QUOTA(id)                                                                                                    \
    "{'error':{'code':429,'message':'You exceeded your current quota, please check your plan and billing details.'," \
    "'status':'RESOURCE_EXHAUSTED','details':[{'@type':'type.googleapis.com/google.rpc.QuotaFailure','violations':["  \
    "{'quotaId':'" id "'}]},{'@type':'type.googleapis.com/google.rpc.RetryInfo','retryDelay':'39.5s'}]}}"

TEST(a_429_is_told_by_its_details)
{
    const char *words = ": You exceeded your current quota, please check your plan and billing details.";
    auto_buf struct buf minute = { 0 }, day = { 0 };
    buf_printf(&minute, "THROTTLE 39500 0%s", words);
    buf_printf(&day, "QUOTA 39500 0%s", words);
    CHECK_STR(dialog_refused(api, 429, QUOTA("GenerateRequestsPerMinutePerProjectPerModel")), buf_text(&minute));
    CHECK_STR(dialog_refused(api, 429, QUOTA("GenerateRequestsPerDayPerProjectPerModel-FreeTier")), buf_text(&day));
    CHECK_STR(dialog_refused(api, 429, "[" QUOTA("PerDay") "]"), buf_text(&day));
    CHECK_STR(dialog_refused(api, 429, "{'error':{'code':429,'message':'Your prepayment credits are depleted.'}}"),
              "MONEY -1 0: Your prepayment credits are depleted.");
    CHECK_STR(dialog_refused(api, 400, "{'error':{'code':400,'message':'API key not valid. Please pass a valid "
                                       "API key.',"
                                       "'status':'INVALID_ARGUMENT','details':[{'reason':'API_KEY_INVALID'}]}}"),
              "KEY -1 0: API key not valid. Please pass a valid API key.");
    CHECK_STR(dialog_refused(api, 404, "{'error':{'code':404,'message':'models/x is not found for API version "
                                       "v1beta'}}"),
              "MODEL -1 0: models/x is not found for API version v1beta");
    CHECK_STR(dialog_refused(api, 503, "{'error':{'code':503,'message':'The model is overloaded.',"
                                       "'status':'UNAVAILABLE'}}"),
              "SERVER -1 0: The model is overloaded.");
    CHECK_STR(dialog_refused(api, 400, "{'error':{'code':400,'message':'The input token count (2000000) exceeds "
                                       "the maximum "
                                       "number of tokens allowed (1048576).'}}"),
              "TOO_LONG -1 0: The input token count (2000000) exceeds the maximum number of tokens allowed "
              "(1048576).");
    CHECK_STR(dialog_heard(api, "data: {'error':{'code':503,'message':'overloaded','status':'UNAVAILABLE'}}\n\n"),
              "trouble SERVER: overloaded");
}
