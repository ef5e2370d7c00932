import { spawnSync } from 'node:child_process'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { ralphProgram, root } from './support/paths.ts'
import { createTestSprint, type Setup } from './support/sprint.ts'

const Action = z.object({
  inputs: z.record(z.string(), z.object({ description: z.string(), default: z.string().optional() })),
  outputs: z.record(z.string(), z.object({ value: z.string() })),
  runs: z.object({
    using: z.literal('composite'),
    steps: z.tuple([
      z.object({
        id: z.literal('run'),
        shell: z.literal('bash'),
        env: z.record(z.string(), z.string()),
        run: z.string(),
      }),
      z.object({ if: z.string(), uses: z.string(), with: z.record(z.string(), z.unknown()) }),
    ]),
  }),
})
const action = Action.parse(parse(await readFile(join(root, 'action.yml'), 'utf8')))
const [{ run: script, env: variables }, upload] = action.runs.steps

const done = { status: 'goal-complete', summary: 'did it', goalCompleteSummary: 'all done' }
const checked = { 'done-when': [{ run: 'test -f done' }] }
const refusedOnce: Setup = { sprint: checked, answers: { 1: done, 2: { run: 'touch done', report: done } } }

it('passes its inputs as variables, each declared as an input, and none of them in the script', () => {
  const used = Object.values(variables).map((value) => /^\$\{\{ inputs\.([a-z-]+) \}\}$/.exec(value)?.[1])

  expect(new Set(used)).toEqual(new Set(Object.keys(action.inputs).filter((name) => name !== 'artifact')))
  expect(script).not.toContain('${{')
})

it('keeps the report also when the run has failed, with an action that is pinned by its commit', () => {
  expect(upload).toMatchObject({
    if: expect.stringContaining('always()'),
    uses: expect.stringMatching(/^actions\/upload-artifact@[0-9a-f]{40}$/),
    with: {
      path: '${{ steps.run.outputs.artifact-path }}',
      'include-hidden-files': "${{ inputs.transcripts == 'true' }}",
    },
  })
})

describe('its script', () => {
  it('runs a sprint, with annotations, a job summary and outputs', async () => {
    const { exitCode, stdout, outputs, summary } = await runAction(refusedOnce, {
      'sprint-dir': 's',
      'max-iterations': '5',
    })

    expect({ exitCode, outputs }).toEqual({
      exitCode: 0,
      outputs: expect.stringMatching(/^exit-code=0\nsprint-dir=s\nartifact-path=.*ralph-report\n$/),
    })
    expect(stdout.split('\n').filter((line) => line.startsWith('::'))).toEqual([
      expect.stringMatching(/^::warning title=Iteration 1%3A claim refused by test -f done::/),
      '::notice title=The goal is reached::completed',
    ])
    expect(stdout).not.toContain('\u001b')
    expect(summary).toMatch(/^## ✅ Ralph: goal reached$/m)
    expect(summary).toMatch(/^\| 1 \| planning \| refused \| claude fake \| 0\/1 \| \$0\.01 \|/m)
  })

  it('creates a sprint for a goal with any text', async () => {
    const goal = 'Say "hi" $(touch evil) `touch evil`; touch evil\n::error::no'
    const { exitCode, outputs, sprint } = await runAction({ answers: { 1: done } }, { goal, agent: 'claude' })

    const [, folder = ''] = /^sprint-dir=(\.claude\/sprints\/\S+_run-77-1)$/m.exec(outputs) ?? []
    // Nothing could refuse the claim: with --ci such an end is not a success.
    expect({ exitCode, evil: sprint.has('evil') }).toEqual({ exitCode: 5, evil: false })
    expect(parse(await sprint.read(`${folder}/SPRINT.yaml`))).toMatchObject({ goal, agent: 'claude' })
  })

  it('keeps only the redacted report, unless transcripts are asked for', async () => {
    const secret = 'sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789'
    const leaky: Setup = { answers: { 1: { ...done, summary: `used ${secret}` } } }
    const kept = async (inputs: Readonly<Record<string, string>>) => {
      const { outputs, stdout } = await runAction(leaky, { 'sprint-dir': 's', ...inputs })
      const folder = /^artifact-path=(.*)$/m.exec(outputs)?.[1] ?? ''
      return { stdout, files: (await readdir(folder)).toSorted(), path: folder }
    }
    const { files, path } = await kept({})
    expect(files).toEqual(['report.html', 'report.md'])
    expect(spawnSync('grep', ['-r', secret, path], { encoding: 'utf8' }).stdout).toBe('')
    const raw = await kept({ transcripts: 'true' })
    expect(spawnSync('grep', ['-r', secret, raw.path], { encoding: 'utf8' }).stdout).not.toBe('')
    expect(raw.stdout).toContain('::warning title=Ralph::the artifact holds raw transcripts')
  })

  it('fails with the exit code of the run, and asks its question', async () => {
    const humanNeeded = { reason: 'Which?', details: 'a or b' }
    const asks = { answers: { 1: { status: 'needs-human', summary: 's', humanNeeded } } }
    const { exitCode, stdout, outputs, summary } = await runAction(asks, { 'sprint-dir': 's' })

    expect({ exitCode, outputs }).toEqual({
      exitCode: 2,
      outputs: expect.stringMatching(/^exit-code=2\nsprint-dir=s\n/),
    })
    expect(stdout).toMatch(/^::error title=A human is needed%3A Which\?::a or b$/m)
    expect(summary).toContain('ralph answer s "…"')
  })

  it('annotates the file with its error', async () => {
    const files = { 's/SPRINT.yaml': 'workflow: ralph\ngoal: g\nlimits: { iterations: many }\n' }
    const { exitCode, stdout } = await runAction({ files }, { 'sprint-dir': 's' })

    expect(exitCode).toBe(1)
    expect(stdout).toMatch(/^::error file=s\/SPRINT\.yaml,line=3,col=\d+,title=INVALID_FIELD::/m)
  })

  it('reports a missing sprint', async () => {
    const { exitCode, stdout } = await runAction({}, { 'sprint-dir': 'nowhere' })

    expect(exitCode).toBe(1)
    expect(stdout).toMatch(/^::error title=SPRINT_NOT_FOUND::nowhere: /m)
  })

  it('requires a goal or a sprint', async () => {
    expect(await runAction({}, {})).toMatchObject({
      exitCode: 1,
      stdout: expect.stringMatching(/^::error .*goal/),
      outputs: '',
    })
  })

  it('installs the package if there is no ralph', async () => {
    const inputs = { 'sprint-dir': 's', package: './ralph-mode-1.0.0.tgz', args: '--no-keep-awake   --model opus' }
    const { stdout } = await runAction({}, inputs, 'npx')

    expect(stdout.split('\n')[0]).toBe(
      '--yes --package ./ralph-mode-1.0.0.tgz ralph run s --ci --no-keep-awake --model opus',
    )
  })
})

/** Runs the first step as GitHub does, with a `ralph` on PATH or only an `npx` that prints its arguments. */
async function runAction(setup: Setup, inputs: Readonly<Record<string, string>>, program: 'ralph' | 'npx' = 'ralph') {
  const sprint = await createTestSprint(setup)
  const bin = sprint.at('..', 'bin')
  const runs = program === 'ralph' ? `exec '${process.execPath}' '${ralphProgram}' "$@"` : 'echo "$@"'
  await writeFile(join(bin, program), `#!/bin/sh\n${runs}\n`, { mode: 0o755 })
  await mkdir(sprint.at('.claude'), { recursive: true })
  const [outputFile, summaryFile] = [sprint.at('..', 'output'), sprint.at('..', 'summary')]
  for (const file of [outputFile, summaryFile]) await writeFile(file, '')
  const { status, stdout, stderr } = spawnSync('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', script], {
    cwd: sprint.at(),
    encoding: 'utf8',
    env: {
      PATH: [bin, ...(program === 'ralph' ? [dirname(process.execPath)] : []), '/usr/bin', '/bin'].join(':'),
      HOME: sprint.at('..', 'home'),
      IS_SANDBOX: '1',
      GITHUB_ACTIONS: 'true',
      GITHUB_RUN_ID: '77',
      RUNNER_TEMP: sprint.at('..'),
      GITHUB_OUTPUT: outputFile,
      GITHUB_STEP_SUMMARY: summaryFile,
      ...actionVariables(inputs),
    },
  })
  const [outputs, summary] = [await readFile(outputFile, 'utf8'), await readFile(summaryFile, 'utf8')]
  return { exitCode: status, stdout, stderr, outputs, summary, sprint }
}

/** The variables of the step, with inputs and defaults filled in. */
const actionVariables = (inputs: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(variables).map(([name, value]) => {
      const input = value.replaceAll(/^\$\{\{ inputs\.| \}\}$/g, '')
      return [name, inputs[input] ?? action.inputs[input]?.default ?? '']
    }),
  )
