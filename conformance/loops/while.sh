# The loop that everybody begins with.
while :; do
  claude -p "$(cat PROMPT.md)" --output-format text > answer.log || true
  grep -q '<promise>COMPLETE</promise>' answer.log && exit 0
done
