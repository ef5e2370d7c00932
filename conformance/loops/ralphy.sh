# ralphy with its documented flags: the check as the test command of its configuration, one task. $PEERS is its installation folder.
set -e
ralphy="$PEERS/node_modules/.bin/ralphy"
if [ ! -e tasks.yaml ]; then
  "$ralphy" --init
  sed -i "s/^  test:.*/  test: \"$CHECK\"/" .ralphy/config.yaml
  printf 'tasks:\n  - title: %s\n    completed: false\n' "$GOAL" > tasks.yaml
fi
exec "$ralphy" --claude --yaml tasks.yaml
