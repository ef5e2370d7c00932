import { execFileSync } from 'node:child_process'
import { chmodSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { createTestFolder } from '../support/folder.ts'
import { root } from '../support/paths.ts'
import { claude } from './real-agents.ts'
import { createRealSprint, installed } from './real-sprint.ts'
import * as scenario from './scenarios.ts'

scenario.install(claude)

const yqProgram = join(root, 'test/support/yq.mjs')

/** A folder for PATH with `yq` as version 4 behaves. */
function createYq(): string {
  const folder = createTestFolder()
  writeFileSync(join(folder, 'yq'), `#!/bin/sh\nexec '${process.execPath}' '${yqProgram}' "$@"\n`)
  chmodSync(join(folder, 'yq'), 0o755)
  return folder
}

const step =
  '{"id": "step-N", "prompt": "write hello.ts", "status": "pending", "added-at": "2026-01-18T10:00:00Z", "added-in-iteration": 1}'
const addStep = { run: `yq -i '.dynamic-steps += [${step}]' s/PROGRESS.yaml && sleep 1` }
const completeStep = {
  run: `yq -i '(.dynamic-steps[] | select(.id == "step-0")).status = "completed"' s/PROGRESS.yaml && sleep 1`,
}

it('000:459-466: every box of the first verification list, with the real claude and the lines of its prompts', async () => {
  const yq = createYq()
  const folder = await installed('claude')
  const sprint = await createRealSprint(
    claude,
    [
      { calls: [addStep] },
      { text: 'Planned.' },
      { calls: [{ write: 'hello.ts', content: 'export const hello = () => "hello world"\n' }] },
      { calls: [completeStep] },
      { text: 'Written.' },
      { text: 'Nothing is pending.' },
      { text: '## Done\n\n**RALPH_COMPLETE:** A hello world function with tests' },
    ],
    {
      sprint: {
        ralph: { 'idle-threshold': 2 },
        'done-when': [],
        'per-iteration-hooks': [
          { id: 'learning', run: 'sleep 2; echo "$ITERATION" >> learned.txt', parallel: true, enabled: true },
        ],
      },
      env: { PATH: [yq, folder, dirname(process.execPath), '/usr/bin', '/bin'].join(':') },
    },
  )
  await sprint.write(
    'wf/ralph.yaml',
    'name: R\nmode: ralph\nprotocol: classic\ngoal-prompt: Plan.\nreflection-prompt: Look.\n',
  )

  const { exitCode, stderr } = await sprint.run()
  const progress = await sprint.progress()
  const modes = progress.iterations?.map(({ mode }) => mode)

  expect({ exitCode, stderr }, 'RALPH_COMPLETE is recognised and the loop ends').toMatchObject({ exitCode: 0 })
  expect(progress.mode, 'the loop recognises mode: ralph').toBe('ralph')
  expect(progress['dynamic-steps'], 'Claude adds steps to dynamic-steps').toMatchObject([
    { id: 'step-0', prompt: 'write hello.ts', status: 'completed' },
  ])
  expect(modes, 'reflection when no step is pending').toEqual(['planning', 'executing', 'planning', 'reflecting'])
  expect(progress['hook-tasks'], 'hook tasks are registered, and all have ended before the exit').toMatchObject(
    [1, 2, 3, 4].map((iteration) => ({ iteration, 'hook-id': 'learning', status: 'completed', 'exit-code': 0 })),
  )
  expect(
    (await sprint.read('learned.txt')).trim().split('\n').toSorted(),
    'hooks ran beside the next iteration',
  ).toEqual(['1', '2', '3', '4'])
  expect(progress['ralph-exit']['final-summary']).toBe('A hello world function with tests')
  expect(sprint.model.requests[0]?.text).toContain('yq -i')
})

it('000:181-202: the reads of the loop with yq', async () => {
  const file = join(createTestFolder(), 'PROGRESS.yaml')
  writeFileSync(file, execFileSync('cat', [join(root, 'test/fixtures/seeds/000-progress.yaml')]))
  const read = (expression: string) =>
    execFileSync(process.execPath, [yqProgram, '-r', expression, file], { encoding: 'utf8' }).trim()

  expect(read('.mode // "standard"')).toBe('ralph')
  expect(read('.ralph."idle-threshold" // 3')).toBe('3')
  expect(read('[.dynamic-steps[] | select(.status == "pending")] | length')).toBe('1')
})
