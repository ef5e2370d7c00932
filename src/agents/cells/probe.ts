import { findProgram } from '../../platform/processes/programs.ts'
import { runWithTimeout } from '../../platform/processes/timed-run.ts'

/** Whether agents can be kept in a sandbox on this machine, and if not, why, in half a sentence. */
export type Capability =
  | {
      readonly kind: 'bubblewrap'
      readonly file: string
      readonly version: string
      /** Whether `env` can give a program back its signals; without it, the program is ended without a warning. */
      readonly canWarn: boolean
    }
  | { readonly kind: 'none'; readonly reason: string }

type Machine = { readonly platform: NodeJS.Platform; readonly path: string; readonly cwd: string }

/** Not only whether it is there, but whether it works: containers and some distributions do not let it. */
export async function probeSandbox({ platform, path, cwd }: Machine): Promise<Capability> {
  if (platform !== 'linux') return { kind: 'none', reason: 'bubblewrap is only for Linux' }
  const file = findProgram('bwrap', path, cwd)
  if (file === undefined) return { kind: 'none', reason: 'bubblewrap is not installed' }
  const say = (...words: readonly string[]) =>
    runWithTimeout({
      file: '/bin/sh',
      args: ['-c', 'exec 2>&1; exec "$@"', 'probe', ...words],
      cwd: '/',
      env: { PATH: path, LC_ALL: 'C' },
      timeoutMs: 5000,
    })
  const inside = [file, '--unshare-pid', '--die-with-parent', '--cap-drop', 'ALL', '--ro-bind', '/', '/']
  const [{ stdout: version }, plain, warned] = await Promise.all([
    say(file, '--version'),
    say(...inside, '--dev', '/dev', '--proc', '/proc', '--', 'true'),
    say('env', '--default-signal=TERM', 'true'),
  ])
  if (plain.code !== 0) return { kind: 'none', reason: `bubblewrap does not work here: ${firstLine(plain.stdout)}` }
  const number = /\d+(?:\.\d+)+/.exec(version)?.[0] ?? 'of an unknown version'
  return { kind: 'bubblewrap', file, version: number, canWarn: warned.code === 0 }
}

const firstLine = (text: string): string => text.trim().split('\n')[0]?.slice(0, 200) || 'it says nothing'
