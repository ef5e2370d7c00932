import { execFileSync } from 'node:child_process'
import { chmodSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createTestFolder } from './folder.ts'
import { root } from './paths.ts'

/** Behaves as yq v4 for the expressions of the seed documents. */
export const yqStandIn = join(root, 'test/support/yq.mjs')

/** A real yq v4, if there is one: `YQ`, or `yq` on PATH. Debian's package of that name is another program. */
export function findRealYq(): string | undefined {
  const program = process.env['YQ'] ?? 'yq'
  try {
    const version = execFileSync(program, ['--version'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
    return version.includes('mikefarah') ? program : undefined
  } catch {
    return undefined
  }
}

/** A folder for PATH with `yq`: the real one, or what behaves like it. */
export function createYqFolder(): string {
  const real = findRealYq()
  const folder = createTestFolder()
  const command = real === undefined ? `'${process.execPath}' '${yqStandIn}'` : `'${findProgram(real)}'`
  writeFileSync(join(folder, 'yq'), `#!/bin/sh\nexec ${command} "$@"\n`)
  chmodSync(join(folder, 'yq'), 0o755)
  return folder
}

const findProgram = (name: string): string =>
  dirname(name) === '.' ? execFileSync('which', [name], { encoding: 'utf8' }).trim() : name

/** Runs an expression on a file; resolves with what it prints. */
export function runYq(program: string, args: readonly string[], file: string): string {
  const [command, ...first] = program === yqStandIn ? [process.execPath, program] : [program]
  return execFileSync(command ?? '', [...first, ...args, file], { encoding: 'utf8' })
}
