# Model agents that speak OpenAI's Chat Completions, against aimock.
p=openai
. "$ROOT/tests/peers/shape"
