import chromium from '@sparticuz/chromium'
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ralphProgram, root } from './paths.ts'
import { removeStaleFolders } from './stale-folders.ts'

/**
 * Once before all tests: unpacks the browser, and builds the program that users run from the current sources. CI_LOAD=20 runs the tests beside 20 busy
 * processes. Returns what ends them.
 */
export async function setup(): Promise<() => void> {
  removeStaleFolders(tmpdir(), Date.now())
  // Two test files that unpack it at once would start a file that is being written.
  await chromium.executablePath()
  const build = [join(root, 'scripts/build.mjs'), 'src', 'src/cli', 'src/scripted-agent', 'src/acp-bridge']
  const { status, stdout, stderr } = spawnSync(process.execPath, build, { cwd: root, encoding: 'utf8' })
  if (status !== 0) throw new Error(`the build fails, so there is nothing to test:\n${stdout}${stderr}`)
  keepCompiled()
  const load = process.env['CI_LOAD']
  if (load === undefined) return () => {}
  const generator = spawn(process.execPath, [join(root, 'scripts/load.mjs'), load], { stdio: 'inherit' })
  return () => void generator.kill('SIGTERM')
}

/** Runs a whole sprint, so that V8's compiled code is cached for all tests (NODE_COMPILE_CACHE). */
function keepCompiled(): void {
  const home = mkdtempSync(join(tmpdir(), 'ralph-test-'))
  const env = { ...process.env, HOME: home, TMPDIR: home, RALPH_SCRIPTED_PACE: '0' }
  spawnSync(process.execPath, [ralphProgram, 'demo'], { cwd: home, env, stdio: 'ignore', timeout: 120_000 })
  rmSync(home, { recursive: true, force: true, maxRetries: 5 })
}
