# gnhf with a limit of iterations and the check as its stop condition. $PEERS/gnhf is its checkout, built.
set -e
git add -A
git diff --cached --quiet || git commit -q -m project
exec node "$PEERS/gnhf/dist/cli.mjs" --agent claude --max-iterations 20 --prevent-sleep off --stop-when "$CHECK exits with 0" "$(cat "$PROMPT_FILE")"
