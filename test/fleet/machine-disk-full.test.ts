import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createSmallDisk, canMount, type SmallDisk } from '../chaos/small-disk.ts'
import { createTestFolder } from '../support/folder.ts'
import { root } from '../support/paths.ts'
import { timeoutOptions } from './real-machines.ts'
import { createServedFleet } from './served-fleet.ts'

it.skipIf(!canMount)(
  'starts nothing on a machine whose disk is full, says so, and runs each prompt once when there is room',
  async () => {
    const folder = createTestFolder()
    const fleet = await createServedFleet(folder, 'embedded')
    let disk: SmallDisk | undefined
    const within = async (home: string) => (disk = await createSmallDisk(home, 'size=64m'))
    const { id: machineId } = await fleet.machine('m1', { within })
    const [project, effects] = [join(folder, 'project'), join(folder, 'effects')]
    mkdirSync(project)
    const api = fleet.api()
    const program = `command:/bin/sh ${join(root, 'test/fleet/machine-agent.sh')} ${effects}`
    const workspace = { kind: 'folder' as const, path: project }
    const { id: agentId } = await api.createAgent({ name: 'One', machineId, workspace, program })
    await expect.poll(async () => (await api.getAgent({ agentId })).agent.state, timeoutOptions).toBe('idle')
    const done = () => (existsSync(effects) ? readFileSync(effects, 'utf8').trim().split('\n') : [])

    // Too little space to start anything: the machine stores the prompt, holds it, and reports why.
    disk?.fill(300 * 1024)
    const { id: promptId } = await api.queuePrompt({ agentId, prompt: 'effect first' })
    const notes = async () => {
      const { items } = await api.listPromptEvents({ agentId, promptId })
      return items.flatMap(({ event }) => (event.type === 'note' ? [event.text] : []))
    }
    await expect.poll(notes, timeoutOptions).toEqual([expect.stringContaining('paused: disk-full')])

    // No space at all: the machine cannot even store the request.
    disk?.fill()
    await api.queuePrompt({ agentId, prompt: 'effect second' })
    expect(done()).toEqual([])
    disk?.free()
    const statuses = async () => (await api.listPrompts({ agentId })).items.map(({ status }) => status)
    await expect.poll(statuses, timeoutOptions).toEqual(['finished', 'finished'])
    expect(done()).toEqual(['first', 'second'])
    await expect
      .poll(notes, timeoutOptions)
      .toEqual([expect.stringContaining('disk space is available again'), expect.anything()])
  },
  270_000,
)
