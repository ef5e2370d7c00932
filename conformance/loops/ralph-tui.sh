# ralph-tui with its documented flags: headless, no pause between iterations, its session resumed after a crash. $PEERS is where it
# is installed; it needs bun.
set -e
tui="$PEERS/node_modules/ralph-tui/dist/cli.js"
bun="$PEERS/node_modules/.bin/bun"
if [ -e prd.json ]; then
  exec "$bun" "$tui" resume --headless --force
fi
cat > prd.json <<JSON
{"name": "conformance", "branchName": "conformance", "userStories": [{"id": "US-001", "title": "$GOAL", "priority": 1, "passes": false,
  "description": "$GOAL", "acceptanceCriteria": ["$CHECK exits with 0"]}]}
JSON
exec "$bun" "$tui" run --prd prd.json --headless --no-setup --agent claude --iterations 0 --delay 0
