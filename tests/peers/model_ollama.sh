# Model agents that speak Ollama's own language, against aimock.
p=ollama
. "$ROOT/tests/peers/shape"
