import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { markedProcesses } from '../support/processes.ts'
import { createRealFleet, timeoutOptions } from './real-machines.ts'

/** A repository that all machines can clone and push to. */
function createTestRepository(folder: string): string {
  const [made, bare] = [join(folder, 'made'), join(folder, 'repository.git')]
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=U', '-c', 'user.email=u@x', ...args], { cwd: made, stdio: 'pipe' })
  mkdirSync(made)
  git('init', '--quiet', '--initial-branch=main')
  git('commit', '--quiet', '--allow-empty', '--message=first')
  git('clone', '--quiet', '--bare', made, bare)
  return bare
}

/** Counts to four, one unit per prompt. The first prompt that reaches three never ends. */
function createTestAgentProgram(folder: string): string {
  const script = join(folder, 'agent.sh')
  const text = `notes=$(cat | grep -o '/[^ ]*/notes/[^/ ]*' | head -n 1)
echo unit >>units
if [ "$(wc -l <units)" -eq 3 ] && mkdir ${folder}/held; then sleep 600; fi
echo '- one more unit' >>"$notes/README.md"
if [ "$(wc -l <units)" -ge 4 ]; then
  echo 'done: four' >"$notes/OUTCOME"
  rm -f "$notes/.task-lock"
fi
echo '{"type":"result","subtype":"success","is_error":false,"result":"one","usage":{"input_tokens":10,"output_tokens":5},"total_cost_usd":0.01,"session_id":"s"}'
`
  writeFileSync(script, text)
  return `command:/bin/sh ${script}`
}

it('is replaced by another machine, which continues from the last push; its late reports are recorded and ignored', async () => {
  const { folder, api, machine } = await createRealFleet('postgres', { leaseMs: 1000, silentMs: 8000, sweepMs: 200 })
  // The agent writes outside its project, which a sandbox would refuse.
  const env = { IS_SANDBOX: '1' }
  const [first, second] = [await machine('first', env), await machine('second', env)]
  const workspace = { kind: 'clone' as const, repository: createTestRepository(folder), push: 'origin' }
  const program = createTestAgentProgram(folder)
  const { id: agentId } = await api.createAgent({ name: 'Counter', machineId: first.id, workspace, program })
  const unitsOn = ({ home }: { readonly home: string }) =>
    readFileSync(join(home, '.ralph', 'workspaces', agentId, 'units'), 'utf8')
      .trim()
      .split('\n').length
  const row = () => api.getAgent({ agentId })
  const doneWhen = [{ run: 'test "$(wc -l <units)" -ge 4' }]
  const { sprintId } = await api.startRalphMode({ agentId, taskDescription: 'count to four', doneWhen })
  await expect.poll(() => existsSync(join(folder, 'held')), timeoutOptions).toBe(true)
  await first.kill()

  await expect.poll(async () => (await row()).sprint?.status, timeoutOptions).toBe('completed')
  const { agent, sprint } = await row()
  expect(agent).toMatchObject({ machineId: second.id, inRalphMode: false })
  expect(sprint?.verdicts.map(({ verdict }) => verdict)).toEqual(['continue', 'continue', 'continue', 'accepted'])
  // Measured against the files that the lost machine recorded at the start.
  const { progress } = await api.getSprint({ sprintId })
  expect(progress.ralphExit).toMatchObject({ iteration: 4, proof: { verdict: 'proved' } })
  expect([unitsOn(first), unitsOn(second)]).toEqual([3, 4])
  const { notes } = await api.listNotes({ agentId })
  expect(notes[0]?.text.match(/count to four|one more unit/g)).toHaveLength(5)

  // It reconnects: its running prompts are ended, and its files are left alone.
  await first.start()
  const late = async () => (await api.listPrompts({ agentId })).items.find(({ error }) => error?.includes('is ignored'))
  await expect.poll(late, timeoutOptions).toMatchObject({ status: 'failed', sprintId })
  await expect.poll(() => markedProcesses(folder), timeoutOptions).toEqual([])
  expect([unitsOn(first), unitsOn(second)]).toEqual([3, 4])
  expect((await row()).agent).toMatchObject({ machineId: second.id, state: 'idle', inRalphMode: false })
  const { items } = await api.listEvents({ sprintId, limit: 200 })
  const texts = items.toReversed().flatMap(({ event }) => (event.type === 'note' ? [event.text] : []))
  expect(texts.filter((text) => text.includes('first'))).toEqual([
    'its machine first was lost; second has taken over from the last push',
    'first is back: its prompt ended as cancelled, which is ignored',
  ])
}, 300_000)
