import { execFileSync } from 'node:child_process'
import { accessSync, constants, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { compile, validatePerIterationHook } from 'ralph-mode'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { root } from '../support/paths.ts'
import { createYqFolder } from '../support/yq.ts'
import { claude } from './real-agents.ts'
import { createRealSprint, installed } from './real-sprint.ts'
import { createUser, startProgram } from './real-user.ts'
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

/** The loop of 000:192-237 around the script of 003, with the fields of 000:202 and the call of 000:223. */
const loop = `set -euo pipefail
S=$(echo .claude/sprints/*x)
mkdir -p "$S/transcripts"
for MODE in planning executing reflecting; do
  N=$((\${N:-0} + 1))
  PROMPT=$("$SCRIPT" "$S" "$MODE" "$N")
  claude -p "$PROMPT" --dangerously-skip-permissions --output-format stream-json --verbose > "$S/transcripts/iteration-$N.jsonl"
  echo "$MODE: $(yq '[.dynamic-steps[] | select(.status == "pending")] | length' "$S/PROGRESS.yaml") pending"
  if grep -q "RALPH_COMPLETE:" "$S/transcripts/iteration-$N.jsonl"; then echo "complete after $N"; fi
done
`

it('003:217-227: every scenario, and the real claude works on the prompts of the script in all three modes (rows 204, 214-222)', async () => {
  const edit = (command: string) => ({ calls: [{ run: command.replaceAll(' s/', ' .claude/sprints/*x/') }] })
  const sprint = await createRealSprint(claude, [
    edit(addStep.run),
    { text: 'Planned.' },
    edit(completeStep.run.replace('step-0', 'step-N')),
    { text: 'Done with it.' },
    { text: 'RALPH_COMPLETE: hello.ts says hello' },
  ])
  const init = ['init', 'x', '--goal', 'Say hello', '--yes', '--write-workflow']
  expect(await sprint.ralph(...init), '4: the workflow file exists').toMatchObject({ exitCode: 0 })
  const workflow = await sprint.read('.claude/workflows/ralph.yaml')
  expect(parse(workflow), '5 to 7: it is YAML, with mode: ralph and an array of hooks').toMatchObject({
    mode: 'ralph',
    'per-iteration-hooks': expect.any(Array),
  })
  await sprint.write('.claude/workflows/ralph.yaml', `protocol: classic\n${workflow}`)
  await sprint.ralph('compile', 'x')
  const script = join(root, 'plugin/scripts/build-ralph-prompt.sh')
  expect(() => accessSync(script, constants.X_OK), '1, 2: the script exists and is executable').not.toThrow()
  expect(execFileSync('bash', ['-n', script], { encoding: 'utf8' }), '3: it passes bash -n').toBe('')

  const { options } = await createUser(sprint, [createYqFolder()])
  const run = await startProgram('bash', ['-c', loop], { ...options, env: { ...options.env, SCRIPT: script } })

  expect(run, '8: the script handles all three modes').toEqual({
    exitCode: 0,
    stdout: 'planning: 1 pending\nexecuting: 0 pending\nreflecting: 0 pending\ncomplete after 3\n',
    stderr: '',
  })
  const requests = sprint.model.requests.map(({ text }) => text)
  expect(requests[0]).toContain('# Ralph Mode: Goal Analysis')
  expect(requests[2]).toContain('## Current Task: step-N\\nwrite hello.ts')
  expect(requests[4]).toContain('## Completed: 1 steps')
})

it('004:310-318: every scenario of the compiler, then the real claude runs what it compiled (rows 267-269)', async () => {
  const fixture = (name: string) => readFileSync(join(root, 'test/fixtures/seeds', name), 'utf8')
  const sprint = await createRealSprint(claude, [scenario.claim, { text: 'The documentation is complete.' }])
  await sprint.write('wf/ralph.yaml', fixture('workflows/ralph.yaml'))
  await sprint.write('s/SPRINT.yaml', `agent: claude\n${fixture('000-sprint.yaml')}`)
  await sprint.write('without/SPRINT.yaml', 'workflow: ralph\n')
  const folder = (name: string) => compile({ sprintDir: sprint.at(name), workflowsDir: sprint.at('wf') })

  const { success, progress } = await folder('s')
  expect({ success, mode: progress?.mode, steps: progress?.['dynamic-steps'] }, '6: it detects Ralph mode').toEqual({
    success: true,
    mode: 'ralph',
    steps: [],
  })
  expect((await folder('without')).errors, '7: it enforces the goal').toMatchObject([
    { code: 'RALPH_MISSING_GOAL', message: 'Ralph mode requires goal field in SPRINT.yaml' },
  ])
  const hooks = progress?.['per-iteration-hooks']?.map(({ id, enabled }) => `${id} ${String(enabled)}`)
  expect(hooks, '8: it merges the hooks').toEqual(['learning true', 'documentation true', 'tests false'])
  expect(validatePerIterationHook({ id: 'x', parallel: true, enabled: true }, 0)).toMatchObject([
    { code: 'RALPH_INVALID_HOOK' },
  ])

  expect(await sprint.run()).toMatchObject({ exitCode: 0 })
  const ended = await sprint.progress()
  expect({ status: ended.status, goal: ended.goal }).toEqual({ status: 'completed', goal: progress?.goal })
  // The plugin of the seed is not installed here, which is a failed hook and never the end of the sprint.
  expect(ended['hook-tasks'].map((task) => `${task['hook-id']} ${task.status}`).toSorted()).toEqual([
    'documentation completed',
    'learning failed',
  ])
})
