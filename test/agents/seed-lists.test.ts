import { dirname } from 'node:path'
import { expect, it } from 'vitest'
import { createYqFolder } from '../support/yq.ts'
import { claude } from './real-agents.ts'
import { createRealSprint, installed } from './real-sprint.ts'
import * as scenario from './scenarios.ts'

scenario.install(claude)

const step =
  '{"id": "step-N", "prompt": "write hello.ts", "status": "pending", "added-at": "2026-01-18T10:00:00Z", "added-in-iteration": 1}'
const addStep = { run: `yq -i '.dynamic-steps += [${step}]' s/PROGRESS.yaml && sleep 1` }
const completeStep = {
  run: `yq -i '(.dynamic-steps[] | select(.id == "step-0")).status = "completed"' s/PROGRESS.yaml && sleep 1`,
}

it('000:459-466: every box of the first verification list, with the real claude and the lines of its prompts (rows 60, 61, 77, 80-86)', async () => {
  const yq = createYqFolder()
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
