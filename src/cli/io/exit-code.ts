import type { Progress, SprintStatus } from '../../contract/progress.ts'

/** Every exit code of `ralph`: help, docs/reference/cli.md and action.yml take it from here. */
export const exitCodeRows = [
  { code: 0, brief: 'goal reached', meaning: 'the goal is reached; of other commands: the command succeeded' },
  { code: 1, brief: 'failed or invalid input', meaning: 'failed, blocked, or the input is invalid' },
  {
    code: 2,
    brief: 'waiting for your answer',
    meaning: 'waiting for your answer: `ralph status`, then `ralph answer`',
  },
  {
    code: 3,
    brief: 'limit reached',
    meaning: 'a limit was reached (iterations, money, tokens, time); the output names the flag that raises it',
  },
  { code: 4, brief: 'paused', meaning: 'paused on request or at a breakpoint; `ralph run` resumes' },
  {
    code: 5,
    brief: 'reached without proof (with --ci)',
    meaning: 'with `--ci`: the goal is reached, but nothing proves it, or no check exists',
  },
  {
    code: 130,
    brief: 'interrupted',
    meaning:
      'interrupted by Ctrl-C twice, SIGTERM, `ralph stop` or a closed output; `ralph run` resumes. Of `ralph watch`: you left',
  },
] as const

export type ExitCode = (typeof exitCodeRows)[number]['code']

export const formatExitCodes = (): string => exitCodeRows.map(({ code, brief }) => `${code} ${brief}`).join(', ')

/** The exit code of `ralph run` and `ralph watch` for the final status of the sprint: 0 only if the goal is reached. */
export const exitCodes: Readonly<Record<SprintStatus, ExitCode>> = {
  completed: 0,
  paused: 4,
  'paused-at-breakpoint': 4,
  'not-started': 1,
  'in-progress': 1,
  parked: 1,
  blocked: 1,
  failed: 1,
  'needs-human': 2,
  'limit-reached': 3,
  interrupted: 130,
}

/** With `--ci`, a goal that no check proved is not a success. */
export function chooseExitCode({ status, ralphExit }: Progress, isCi: boolean): ExitCode {
  const isDoubtful = ralphExit.unproven === true || ralphExit.unchecked === true
  return isCi && status === 'completed' && isDoubtful ? 5 : exitCodes[status]
}
