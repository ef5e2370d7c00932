import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { startCollector, type CollectedSpan } from '../support/collector.ts'
import { createTestFolder } from '../support/folder.ts'
import { root } from '../support/paths.ts'
import { markedProcesses } from '../support/processes.ts'
import { timeoutOptions } from './real-machines.ts'
import { createServedFleet } from './served-fleet.ts'

it('follows the seed’s diagram: activation, loop, termination and stop, while both sides are killed in between', async () => {
  const folder = createTestFolder()
  const collector = await startCollector()
  const { backend, api, machine } = await createServedFleet(folder, 'embedded', collector.env)
  const { id: machineId, restart } = await machine('m1')
  const project = join(folder, 'project')
  mkdirSync(project)
  const program = `command:/bin/sh ${join(root, 'test/fleet/machine-notes-agent.sh')}`
  const workspace = { kind: 'folder' as const, path: project }
  const { id: agentId } = await api().createAgent({ name: 'Counter', machineId, workspace, program })
  const file = (name: string) => join(project, name)
  const units = () => (existsSync(file('units')) ? readFileSync(file('units'), 'utf8').trim().split('\n').length : 0)
  const row = () =>
    api()
      .getAgent({ agentId })
      .catch(() => undefined)
  const agent = async () => (await row())?.agent
  const verdicts = async () => (await row())?.sprint?.verdicts.map(({ verdict }) => verdict)

  // Activation: notes with the task, the lock, the first prompt.
  writeFileSync(file('enough'), '4')
  writeFileSync(file('pace'), '0.5')
  const taskDescription = 'count to four'
  await api().startRalphMode({ agentId, taskDescription, doneWhen: [{ run: 'test "$(wc -l <units)" -ge 4' }] })
  expect(await agent()).toMatchObject({ inRalphMode: true, ralphModeTaskDescription: taskDescription })

  // The loop: a fresh conversation each time. Both sides are killed at any point.
  await expect.poll(units, timeoutOptions).toBeGreaterThanOrEqual(1)
  await restart()
  await backend.restart()

  // Termination: the lock is gone, which is a claim; the check passes.
  await expect.poll(async () => (await row())?.sprint?.status, timeoutOptions).toBe('completed')
  await expect.poll(agent, timeoutOptions).toMatchObject({ inRalphMode: false, ralphModeTaskDescription: null })
  expect(units()).toBe(4)
  expect(await verdicts()).toEqual(['continue', 'continue', 'continue', 'accepted'])

  // A user stops it: the turn ends, the lock is removed, the notes of all tasks stay.
  writeFileSync(file('enough'), '1000')
  writeFileSync(file('pace'), '60')
  await expect.poll(agent, timeoutOptions).toMatchObject({ state: 'idle' })
  await api().startRalphMode({ agentId, taskDescription: 'count for ever' })
  await expect.poll(units, timeoutOptions).toBe(5)
  await api().stopRalphMode({ agentId, when: 'now' })
  await expect.poll(agent, timeoutOptions).toMatchObject({ inRalphMode: false, state: 'idle' })
  const { lock, notes } = await api().listNotes({ agentId })
  expect(lock).toBe(false)
  expect(notes[0]?.text.match(/^count .*$/gm)).toEqual(['count to four', 'count for ever'])
  await expect.poll(() => markedProcesses(folder), timeoutOptions).toEqual([])
  expect(units()).toBe(5)

  // The backend traces what its machines report, without what the agents said.
  await expect
    .poll(() => listTrace(collector.spans()), timeoutOptions)
    .toEqual(['invoke_workflow', 'iteration 1', 'invoke_agent'])
  expect(collector.everything()).not.toContain(taskDescription)
}, 270_000)

/** Names from the root of the last sprint's trace to its deepest span. */
function listTrace(spans: readonly CollectedSpan[]): string[] {
  const last = spans.filter(({ name }) => name.startsWith('invoke_workflow')).at(-1)
  const names: string[] = []
  for (let span = last; span; span = spans.find(({ parentSpanId }) => parentSpanId === span?.spanId))
    names.push(span.name.startsWith('iteration') ? span.name : (span.name.split(' ')[0] ?? ''))
  return names
}
