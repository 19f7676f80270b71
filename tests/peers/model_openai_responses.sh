# Model agents that speak OpenAI's Responses, against aimock.
p=openai-responses
. "$ROOT/tests/peers/shape"
