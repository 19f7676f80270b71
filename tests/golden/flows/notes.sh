# notes.sh - an MCP server with one tool, for served.yaml.
while read -r line; do
    id=$(sed -n 's/.*"id":\([0-9]*\).*/\1/p' <<<"$line")
    case $line in
    *initialize\"*) result='{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"notes","version":"1"}}' ;;
    *tools/list*) result='{"tools":[{"name":"last","description":"The last note.","inputSchema":{"type":"object"}}]}' ;;
    *tools/call*) result='{"content":[{"type":"text","text":"A theme."}]}' ;;
    *notifications*) continue ;;
    *) echo '{"jsonrpc":"2.0","id":'"$id"',"error":{"code":-32601,"message":"no"}}'; continue ;;
    esac
    echo '{"jsonrpc":"2.0","id":'"$id"',"result":'"$result"'}'
done
