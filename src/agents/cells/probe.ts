import { runWithTimeout } from '../../platform/processes/timed-run.ts'

/** Runs a program for its exit code; what it prints, errors included, is the output. */
export const runProbe = (path: string, ...words: readonly string[]): ReturnType<typeof runWithTimeout> =>
  runWithTimeout({
    file: '/bin/sh',
    args: ['-c', 'exec 2>&1; exec "$@"', 'probe', ...words],
    cwd: '/',
    env: { PATH: path, LC_ALL: 'C' },
    timeoutMs: 5000,
  })

export const firstLine = (text: string): string => text.trim().split('\n')[0]?.slice(0, 200) || 'it says nothing'
