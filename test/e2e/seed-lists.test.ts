import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { compile, mergePerIterationHooks, validateSprintDefinition } from '../../src/index.ts'
import { createTestSprint } from '../support/sprint.ts'
import { root } from '../support/paths.ts'

const Workflow = z.looseObject({ name: z.string(), mode: z.string(), 'per-iteration-hooks': z.array(z.unknown()) })
const bundled = readFileSync(join(root, 'assets/workflows/ralph.yaml'), 'utf8')

describe('003:218-227, the eight scenarios of the prompt builder and the workflow', () => {
  it.each(['planning', 'executing', 'reflecting'])(
    '1, 2, 3 and 8: the prompt builder is there, runs, and handles %s',
    async (mode) => {
      const sprint = await createTestSprint({ sprint: { steps: ['write it'] } })
      await sprint.compile()
      const { exitCode, stdout } = await sprint.ralph('prompt', 's', '--mode', mode, '--iteration', '3')
      expect(exitCode).toBe(0)
      expect(stdout).toContain(mode)
    },
  )

  it('4: the workflow exists', async () => {
    const sprint = await createTestSprint()
    expect(await sprint.ralph('init', 'x', '--goal', 'g', '--yes', '--write-workflow')).toMatchObject({ exitCode: 0 })
    expect(await sprint.read('.claude/workflows/ralph.yaml')).toBe(bundled)
  })

  it('5, 6 and 7: it is valid YAML, with mode: ralph and an array of per-iteration-hooks', () => {
    expect(Workflow.parse(parse(bundled))).toMatchObject({ mode: 'ralph' })
  })

  it.each([
    ['no folder', 'SPRINT_NOT_FOUND', 'nowhere'],
    ['no PROGRESS.yaml', 'PROGRESS_NOT_FOUND', 's'],
  ])('003:8-36: %s is one line on stderr and exit 1', async (_, code, folder) => {
    const sprint = await createTestSprint()
    const { exitCode, stderr } = await sprint.ralph('prompt', folder)
    expect(exitCode).toBe(1)
    expect(stderr).toContain(code)
  })
})

describe('004:310-318, the eight scenarios of the compiler', () => {
  const compileText = (sprint: string, workflow = bundled) =>
    compile({
      sprint: { file: 'SPRINT.yaml', text: sprint },
      readWorkflow: () => ({ file: 'ralph.yaml', text: workflow }),
      defaultSprintId: 's',
      at: 0,
    })

  it('1 to 5: the interfaces are in test/seed-names.test.ts, which tsc compiles', () => {
    expect(readFileSync(join(root, 'test/seed-names.test.ts'), 'utf8')).toContain(
      'expectTypeOf<Seed.WorkflowDefinition>()',
    )
  })

  it('6: compile detects Ralph mode', () => {
    expect(compileText('workflow: ralph\ngoal: g\n').progress).toMatchObject({
      mode: 'ralph',
      goal: 'g',
      dynamicSteps: [],
      hookTasks: [],
    })
    expect(compileText('workflow: x\n', 'name: X\nphases: [{id: a, prompt: p}]\n').progress?.mode).toBe('standard')
  })

  it('7: validation enforces the goal', () => {
    const workflow: unknown = parse(bundled)
    expect(workflow).toBeDefined()
    expect(compileText('workflow: ralph\n').diagnostics.map(({ code, message }) => `${code}: ${message}`)).toEqual([
      'RALPH_MISSING_GOAL: Ralph mode requires goal field in SPRINT.yaml',
    ])
    expect(validateSprintDefinition({ goal: 'g' }).map(({ code }) => code)).toEqual(['MISSING_WORKFLOW'])
  })

  it('8: hooks are merged', () => {
    const hooks = [{ id: 'learning', parallel: true, enabled: false }]
    expect(mergePerIterationHooks(hooks, { learning: { enabled: true } })).toEqual([{ ...hooks[0], enabled: true }])
    const { progress } = compileText('workflow: ralph\ngoal: g\nper-iteration-hooks: { learning: { enabled: true } }\n')
    expect(progress?.perIterationHooks.filter(({ enabled }) => enabled).map(({ id }) => id)).toEqual(['learning'])
  })
})
