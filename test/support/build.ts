import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { root } from './paths.ts'

/** Once before all tests: what they run is the program that users run, so it must be the one that the sources say. */
export function setup(): void {
  const build = [join(root, 'scripts/build.mjs'), 'src/cli', 'src/scripted-agent', 'src/acp-bridge']
  const { status, stdout, stderr } = spawnSync(process.execPath, build, { cwd: root, encoding: 'utf8' })
  if (status !== 0) throw new Error(`the build fails, so there is nothing to test:\n${stdout}${stderr}`)
}
