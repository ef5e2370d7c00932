# Ralph Mode with its defaults; the timeouts are shorter, so that a hang shows within the window. The corpus of claims gives its
# own SPRINT.yaml ($SPRINT_FILE) and a limit of iterations.
set -e
sprint=sprint
[ -z "$SPRINT_FILE" ] || sprint=.claude/sprints/corpus
[ -e $sprint/SPRINT.yaml ] || {
  mkdir -p $sprint
  if [ -n "$SPRINT_FILE" ]; then cp "$SPRINT_FILE" $sprint/SPRINT.yaml; else cat > $sprint/SPRINT.yaml <<YAML
workflow: ralph
goal: $GOAL
agent: claude
done-when: [{run: $CHECK}]
timeouts: {idle: 5s, after-result: 1s}
YAML
  fi
}
exec node "$LOOPS/../../bin/cli/main.cjs" run $sprint --plain ${MAX_ITERATIONS:+--max-iterations "$MAX_ITERATIONS"}
