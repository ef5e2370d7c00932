import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { RalphError } from '../../src/contract/errors.ts'
import { root } from '../support/paths.ts'
import { timeoutOptions } from './real-machines.ts'
import type { ServedFleet } from './served-fleet.ts'
import { createTestViewer, type TestViewer } from './viewer.ts'

export type TestWorker = Awaited<ReturnType<typeof createTestWorker>>

const program = `command:/bin/sh ${join(root, 'test/fleet/machine-notes-agent.sh')}`
const units = 3

/** An agent that counts in its project, one unit per prompt, and can be watched. */
export async function createTestWorker(
  { api, served }: ServedFleet,
  at: { readonly machineId: string; readonly project: string },
) {
  const { machineId, project } = at
  mkdirSync(project)
  const name = project.split('/').at(-1) ?? ''
  const workspace = { kind: 'folder' as const, path: project }
  const { id: agentId } = await api().createAgent({ name, machineId, workspace, program })
  const lines = (file: string) =>
    existsSync(join(project, file)) ? readFileSync(join(project, file), 'utf8').trimEnd().split('\n') : []
  let viewer: TestViewer | undefined
  const row = () => api().getAgent({ agentId })
  /** Retries while the backend is away. */
  const rowNow = async (): ReturnType<typeof row> => {
    await sleep(200)
    return row().catch(rowNow)
  }
  await expect.poll(async () => (await row()).agent.state, timeoutOptions).toBe('idle')
  return {
    agentId,
    /** Starts watching. Call it once all agents exist: a user who gains access to another agent has to start over. */
    watch: async () => {
      const watching = createTestViewer(agentId, served)
      viewer = watching
      await expect.poll(() => watching.seen.isLive, timeoutOptions).toBe(true)
    },
    /** Starts Ralph Mode over REST. Without an answer, it checks whether the call took effect. */
    begin: async (taskDescription: string, pace = 0.15): Promise<string> => {
      for (const file of ['units', 'ended']) rmSync(join(project, file), { force: true })
      writeFileSync(join(project, 'enough'), `${units}`)
      writeFileSync(join(project, 'pace'), `${pace}`)
      const options = { agentId, taskDescription, doneWhen: [{ run: `test "$(wc -l <units)" -ge ${units}` }] }
      for (;;) {
        const started = await api()
          .startRalphMode(options)
          .catch(() => undefined)
        if (started) return started.sprintId
        const { sprint } = await rowNow()
        if (sprint?.goal === taskDescription) return sprint.id
      }
    },
    /** A user stops it. Retries without an answer. */
    stop: async (): Promise<void> => {
      const isStopped = () =>
        api()
          .stopRalphMode({ agentId, when: 'now' })
          .then(
            () => true,
            (error: unknown) => error instanceof RalphError && error.code === 'NOT_RUNNING',
          )
      while (!(await isStopped())) await sleep(200)
    },
    lock: async () => (await api().listNotes({ agentId })).lock,
    /**
     * The units its prompts completed, each once. A prompt killed before its first output restarts in another folder,
     * `1-1.2`.
     */
    units: () => lines('units').map((attempt) => attempt.replace(/\.\d+$/, '')),
    attempts: (sprintId: string) => Array.from({ length: units }, (_, index) => `${sprintId}#${index + 1}-1`),
    /** Number of prompts that ended on the machine. */
    ended: (sprintId: string) => lines('ended').filter((line) => line.startsWith(sprintId)).length,
    state: async () => {
      const found = await row().catch(() => undefined)
      if (!found) return undefined
      const { agent, sprint } = found
      const { state, inRalphMode, ralphModeTaskDescription: task } = agent
      const verdicts = sprint?.verdicts.map(({ verdict }) => verdict)
      return { sprintId: sprint?.id, status: sprint?.status, verdicts, state, inRalphMode, task }
    },
    stopped: { status: 'interrupted', state: 'idle', inRalphMode: false, task: null },
    atRest: {
      status: 'completed',
      verdicts: [...Array.from({ length: units - 1 }, () => 'continue'), 'accepted'],
      state: 'idle',
      inRalphMode: false,
      task: null,
    },
    /** The events of a sprint that the viewer received, in order. */
    watched: (sprintId: string) => viewer?.of(sprintId).map(({ id, seq }) => `${seq}: ${id}`) ?? [],
    /** How that differs from the stored events, which are numbered without gaps. */
    watching: async (sprintId: string) => {
      viewer?.hurry()
      const { items } = await api().listEvents({ sprintId, limit: 200 })
      const stored = items.toReversed().map(({ id }, index) => `${index + 1}: ${id}`)
      const events = viewer?.of(sprintId) ?? []
      const seen = events.map(({ id, seq }) => `${seq}: ${id}`)
      const missed = stored.filter((one, index) => seen[index] !== one)
      return { missed, more: seen.slice(stored.length), ...countUnits(events), startOvers: viewer?.seen.startOvers }
    },
    /** Each prompt starts and ends once, and the viewer never had to start over. */
    all: { begun: units, over: units, startOvers: 1 },
  }
}

function countUnits(events: readonly { readonly event: { readonly type: string; readonly event?: unknown } }[]) {
  const started = events.filter(({ event }) => event.type === 'attempt-started').length
  const over = events.filter(({ event: { event } }) => isTerminal(event)).length
  return { begun: started, over }
}

const isTerminal = (event: unknown): boolean =>
  typeof event === 'object' && event !== null && 'kind' in event && event.kind === 'terminal'
