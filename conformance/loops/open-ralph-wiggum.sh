# Open Ralph Wiggum with Claude Code and a limit of iterations. $PEERS/open-ralph-wiggum is its checkout; it needs bun.
exec "$PEERS/node_modules/.bin/bun" "$PEERS/open-ralph-wiggum/ralph.ts" --prompt-file "$PROMPT_FILE" --agent claude-code --max-iterations 20
