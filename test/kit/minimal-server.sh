# A stdio MCP server that offers nothing, starts within milliseconds, and leaves a process behind when its stdin ends.
#
#   sh minimal-server.sh SECONDS
#
# SECONDS is the run time of that process.
sleep "$1" &
while read -r line; do
  id=${line#*\"id\":}
  case $line in *'"initialize"'*)
    echo '{"jsonrpc":"2.0","id":'"${id%%,*}"',"result":{"protocolVersion":"2025-11-25","capabilities":{}}}' ;;
  esac
done
