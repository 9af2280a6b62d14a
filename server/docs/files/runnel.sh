# Helpers for the examples in curl. They need node or python3, and RUNNEL_URL and RUNNEL_API_KEY. In the folder of a
# server for development (runnel dev) they find both by themselves.

# without_proxy COMMAND: runs a command that asks this machine directly, whatever proxy the environment names.
without_proxy() {
  no_proxy="localhost,127.0.0.1,::1,${no_proxy-${NO_PROXY-}}" "$@"
}

# api METHOD PATH [JSON]: sends a request and prints the response. A refusal prints its message and fails.
api() {
  local response
  response=$(without_proxy curl -sS --fail-with-body -X "$1" "$RUNNEL_URL/v1$2" \
    -H "Authorization: Bearer $RUNNEL_API_KEY" ${3+-H "Content-Type: application/json" -d "$3"}) || {
    printf '%s\n' "$response" | field error.message >&2
    return 1
  }
  printf '%s\n' "$response"
}

# events RUN: prints the events of a run as they come, from its first to its last.
events() {
  local ended=0
  without_proxy curl -sN --fail-with-body "$RUNNEL_URL/v1/runs/$1/events" \
    -H "Authorization: Bearer $RUNNEL_API_KEY" -H "Accept: text/event-stream" || ended=$?
  # 23: who reads this has seen enough, as `head` and `grep -m` do.
  [ "$ended" -eq 0 ] || [ "$ended" -eq 23 ] || {
    printf 'The events of %s cannot be read: curl ended with %s.\n' "$1" "$ended" >&2
    return 1
  }
}

# field NAME: prints a field of the JSON that it reads.
field() {
  if command -v node > /dev/null; then
    node -e '
      const value = process.argv[1].split(".").reduce((all, name) => all?.[name], JSON.parse(require("fs").readFileSync(0)));
      if (value === undefined) { console.error("There is no field " + process.argv[1] + "."); process.exit(1); }
      console.log(typeof value === "object" ? JSON.stringify(value) : String(value));
    ' "$1"
  else
    python3 -c '
import json, sys
value = json.load(sys.stdin.buffer)
try:
    for name in sys.argv[1].split("."):
        value = value[int(name) if isinstance(value, list) else name]
except (KeyError, IndexError, TypeError, ValueError):
    sys.exit("There is no field " + sys.argv[1] + ".")
text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
sys.stdout.buffer.write((text + "\n").encode())
    ' "$1"
  fi
}

# Both from the file, or none: a key of yours is not sent to an address that stands in a file.
if [ -z "${RUNNEL_URL-}${RUNNEL_API_KEY-}" ] && [ -O "${RUNNEL_DATA_DIR:-runnel-data}/server.json" ]; then
  if RUNNEL_API_KEY=$(field api_key < "${RUNNEL_DATA_DIR:-runnel-data}/server.json" 2> /dev/null); then
    RUNNEL_URL=$(field address < "${RUNNEL_DATA_DIR:-runnel-data}/server.json")
    export RUNNEL_URL RUNNEL_API_KEY
  else
    unset RUNNEL_API_KEY
  fi
fi
