# Model agents that speak Google's Gemini, against aimock.
p=gemini
. "$ROOT/tests/peers/shape"
