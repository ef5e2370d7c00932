# The loop that every user starts with.
while :; do
  claude -p "$(cat PROMPT.md)" --output-format text < /dev/null > answer.log
  grep -q '<promise>COMPLETE</promise>' answer.log && exit 0
done
