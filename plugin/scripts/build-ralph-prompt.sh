#!/bin/bash
# build-ralph-prompt.sh SPRINT_DIR MODE ITERATION: prints the prompt of an iteration, for scripts that were written for m42-sprint.
# The same as: ralph prompt SPRINT_DIR --mode MODE --iteration ITERATION
set -euo pipefail

SPRINT_DIR="${1:-}"
MODE="${2:-}"
ITERATION="${3:-}"

if [[ -z "$SPRINT_DIR" || ! -d "$SPRINT_DIR" ]]; then
  echo "Error: Valid sprint directory required" >&2
  exit 1
fi

if [[ ! -f "$SPRINT_DIR/PROGRESS.yaml" ]]; then
  echo "Error: PROGRESS.yaml not found" >&2
  exit 1
fi

case "$MODE" in
  planning | executing | reflecting) ;;
  *)
    echo "Error: mode must be planning, executing or reflecting" >&2
    exit 1
    ;;
esac

if ! command -v ralph > /dev/null; then
  echo "Error: ralph is required: npm install --global ralph-mode" >&2
  exit 1
fi

exec ralph prompt "$SPRINT_DIR" --mode "$MODE" --iteration "$ITERATION"
