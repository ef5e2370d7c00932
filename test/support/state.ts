import { createHash } from 'node:crypto'
import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'

/** The folder with the state of a sprint; the sprint's own folder as long as it has none. */
export function findState(ralphHome: string, sprintDir: string): string {
  const real = existsSync(sprintDir) ? realpathSync(sprintDir) : sprintDir
  const file = join(ralphHome, 'state', 'by-path', createHash('sha256').update(real).digest('hex'))
  return existsSync(file) ? join(ralphHome, 'state', readFileSync(file, 'utf8').trim()) : sprintDir
}
