import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { recordings, recordRunner, testProjects } from '../../../test/support/test-projects/record.ts'
import { removeProjects, testLines } from '../../../test/support/test-projects/run-project.ts'
import { findRunProblem } from './judge-run.ts'
import { readTestRun } from './read-test-run.ts'
import { testRunners } from './registry.ts'

// To record again, where the programs are installed:
// RECORD_TEST_RUNS=jest,mocha RECORD_NODE_MODULES=<folder with them> npx vitest run -u src/proof/tests/recorded.test.ts
const runners = process.env['RECORD_TEST_RUNS']?.split(',') ?? []
for (const runner of runners) await recordRunner(runner, process.env['RECORD_NODE_MODULES'])
removeProjects()

describe.each(Object.keys(testProjects))('what %s wrote', (runner) => {
  it.each(readdirSync(join(recordings, runner)))('is read by name: %s', async (state) => {
    const folder = join(recordings, runner, state)
    const stdout = readFileSync(join(folder, 'stdout.txt'), 'utf8')
    const { command = '' } = testProjects[runner] ?? {}
    const run = await readTestRun({ command, project: '/project', outputFolder: folder, stdout, startedAt: 0 })
    const exitCode = Number(readFileSync(join(folder, 'exit-code.txt'), 'utf8'))
    const judgement = run ? (findRunProblem(run, exitCode) ?? 'green') : 'no names'
    const head = `${run?.runner ?? 'unknown'} by ${run?.source ?? 'nothing'}, exit ${exitCode}: ${judgement}`
    await expect([head, ...testLines(run), ''].join('\n')).toMatchFileSnapshot(join(folder, 'tests.txt'))
  })
})

describe('a runner is called verified', () => {
  it.each([...testRunners.values()])('only if it was recorded: $name', ({ name, recorded }) => {
    expect(recorded !== undefined).toBe(existsSync(join(recordings, name, 'mixed')))
  })
})
