# Ralph Mode with its defaults; the timeouts are shorter, so that a hang shows within the window.
set -e
[ -e sprint/SPRINT.yaml ] || {
  mkdir sprint
  cat > sprint/SPRINT.yaml <<YAML
workflow: ralph
goal: $GOAL
agent: claude
done-when: [{run: $CHECK}]
timeouts: {idle: 5s, after-result: 1s}
YAML
}
exec node "$LOOPS/../../bin/cli/main.cjs" run sprint --plain
