# ralph-tui with its documented flags and settings: headless, retries failures, a limit of iterations, resumes its session
# after a crash. $PEERS is its installation folder; it needs bun.
set -e
tui="$PEERS/node_modules/ralph-tui/dist/cli.js"
bun="$PEERS/node_modules/.bin/bun"
if [ -e prd.json ]; then
  exec "$bun" "$tui" resume --headless --force
fi
mkdir -p .ralph-tui
cat > .ralph-tui/config.toml <<TOML
[errorHandling]
strategy = "retry"
maxRetries = 3
TOML
cat > prd.json <<JSON
{"name": "conformance", "branchName": "conformance", "userStories": [{"id": "US-001", "title": "$GOAL", "priority": 1, "passes": false,
  "description": "$GOAL", "acceptanceCriteria": ["$CHECK exits with 0"]}]}
JSON
exec "$bun" "$tui" run --prd prd.json --headless --no-setup --agent claude --iterations 20 --delay 0
