import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { root } from '../support/paths.ts'

// Folders in memory are below /dev, and a sandbox has a /dev of its own.
delete process.env['TMPDIR']

/** The folder of bubblewrap for PATH, or why these tests cannot run here. */
export function findBubblewrap(): { readonly folder: string } | { readonly missing: string } {
  const script = join(root, 'scripts', 'install-bubblewrap.mjs')
  const { status, stdout, stderr } = spawnSync(process.execPath, [script], { encoding: 'utf8' })
  if (status === 0) return { folder: stdout.trim() }
  const missing = stderr.trim() || 'it cannot be found out why'
  console.warn(`\nNOT TESTED: the sandbox, because this machine cannot have it: ${missing}\n`)
  return { missing }
}
