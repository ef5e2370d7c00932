# An agent of Ralph Mode for fleet tests. It finds its notes in the prompt, does one unit of work in the current folder, and after as
# many units as the file `enough` says it deletes the lock. A line of `units` says which attempt it was.
prompt=$(cat)
notes=$(printf '%s' "$prompt" | grep -o '/[^ ]*/notes/[^/ ]*' | head -n 1)
echo "${RALPH_ATTEMPT##*/}" >>units
sleep "$(cat pace 2>/dev/null || echo 0)"
echo "- one more unit" >>"$notes/README.md"
if [ "$(wc -l <units)" -ge "$(cat enough)" ]; then
  echo "done: enough units" >"$notes/OUTCOME"
  rm -f "$notes/.task-lock"
fi
echo "${RALPH_ATTEMPT##*/}" >>ended
printf '%s\n' '{"type":"result","subtype":"success","is_error":false,"result":"one unit","usage":{"input_tokens":10,"output_tokens":5},"total_cost_usd":0.01,"session_id":"s"}'
