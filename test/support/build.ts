import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ralphProgram, root } from './paths.ts'

/** Once before all tests: builds the program that users run from the current sources. */
export function setup(): void {
  const build = [join(root, 'scripts/build.mjs'), 'src', 'src/cli', 'src/scripted-agent', 'src/acp-bridge']
  const { status, stdout, stderr } = spawnSync(process.execPath, build, { cwd: root, encoding: 'utf8' })
  if (status !== 0) throw new Error(`the build fails, so there is nothing to test:\n${stdout}${stderr}`)
  keepCompiled()
}

/** Runs a whole sprint, so that V8's compiled code is cached for all tests (NODE_COMPILE_CACHE). */
function keepCompiled(): void {
  const home = mkdtempSync(join(tmpdir(), 'ralph-test-'))
  const env = { ...process.env, HOME: home, TMPDIR: home, RALPH_SCRIPTED_PACE: '0' }
  spawnSync(process.execPath, [ralphProgram, 'demo'], { cwd: home, env, stdio: 'ignore', timeout: 120_000 })
  rmSync(home, { recursive: true, force: true, maxRetries: 5 })
}
