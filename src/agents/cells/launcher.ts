import { pathOutside } from '../../platform/safe-path.ts'
import type { CellPlan, CellTools, Command } from './cell.ts'

/**
 * Runs outside the cell, as the parent of all its processes. Its arguments: the file of the system call filter, folders to make,
 * `--`, the files of its cgroups, `--`, then the command that builds the cell.
 *
 * - The program inside gets pipes and never the transcript itself, which it could open again through /proc/self/fd, read and cut.
 * - The cell is a session of its own, since a signal to one's own process group crosses PID namespaces. So a TERM for the group
 *   outside is passed on to the one inside, which the first process of the cell or its child leads. All others ignore it: they end when
 *   their pipes do.
 */
const launcher = `trap "" TERM INT HUP
ralph_filter=$1; shift
while [ "$1" != -- ]; do mkdir -p -m 700 "$1" || exit 126; shift; done; shift
while [ "$1" != -- ]; do echo $$ >"$1" || exit 126; shift; done; shift
ralph_pass_term() {
  read -r ralph_first ralph_others </proc/$ralph_cell/task/$ralph_cell/children
  read -r ralph_kids </proc/$ralph_first/task/$ralph_first/children
  for ralph_kid in $ralph_first $ralph_kids; do kill -s TERM -- -$ralph_kid; done 2>/dev/null
}
exec 5>&1 6>&2
ralph_code=$({ { { cat | {
  exec 8<&0
  (exec "$@" <&8 3<"$ralph_filter" 4>&- 5>&- 6>&- 7>&- 8<&-) &
  ralph_cell=$!
  trap ralph_pass_term TERM INT HUP
  while :; do wait $ralph_cell; ralph_code=$?; kill -0 $ralph_cell 2>/dev/null || break; done
  echo $ralph_code >&7
}; } 2>&1 1>&4 | cat >&6; } 4>&1 | cat >&5; } 7>&1)
exit \${ralph_code:-126}
`

/** Restores the default handling of signals that the launcher ignores: a program inherits what its parent ignores. */
const restoreSignals = ['--default-signal=TERM,INT,HUP']

/** The command that runs `command` in a cell under the launcher. `cellCommand` builds the cell and expects a program at its end. */
export function wrapInLauncher(
  cellCommand: readonly string[],
  command: Command,
  plan: CellPlan,
  { canResetSignals }: CellTools,
): Command {
  const { PATH: path = '' } = command.env
  // The launcher and the program that builds the cell run outside, where nothing of the agent's may.
  const safePath = pathOutside(path, plan.cwd)
  const changes = [...(canResetSignals ? restoreSignals : []), ...(safePath === path ? [] : [`PATH=${path}`])]
  const inside = [...(changes.length > 0 ? ['env', ...changes] : []), command.file, ...command.args]
  const launcherArguments = [plan.systemCallFilter ?? '/dev/null', ...plan.folders, '--', ...plan.cgroups, '--']
  return {
    file: '/bin/sh',
    args: ['-c', launcher, 'ralph', ...launcherArguments, ...cellCommand, ...inside],
    env: { ...command.env, PATH: safePath },
  }
}
