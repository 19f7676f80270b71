# Model agents that speak Anthropic's Messages, against aimock.
p=anthropic
. "$ROOT/tests/peers/shape"
