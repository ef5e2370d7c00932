# snarktank/ralph with Claude Code and a limit of iterations. $PEERS/snarktank is its checkout.
set -e
cp "$PEERS/snarktank/ralph.sh" .
cp "$PROMPT_FILE" CLAUDE.md
exec bash ./ralph.sh --tool claude 20
