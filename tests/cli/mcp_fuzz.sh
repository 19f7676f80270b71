#!/bin/bash
# mcp_fuzz.sh - what fuzzing the messages of MCP servers found, and the seeds it began with, once more.
replay=$ROOT/$B/tests/fuzz_mcp
[ -x "$replay" ] || { echo "no $B/tests/fuzz_mcp"; exit 77; }
"$replay" "$ROOT/tests/fuzz/corpus/mcp"
