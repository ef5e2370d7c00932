import { randomUUID } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startAgentsServer } from '../../src/agents-server/agents-server.ts'
import { createTestMachineBackend } from '../fleet/machine-backend.ts'
import { buildLive, buildProgress } from '../support/builders.ts'
import { createTestFolder } from '../support/folder.ts'
import { findBubblewrap } from './bubblewrap.ts'

const found = findBubblewrap()
const folder = 'folder' in found ? found.folder : ''
const why = 'missing' in found ? ` (SKIPPED: ${found.missing})` : ''
const patience = { timeout: 60_000, interval: 50 }

const script = `notes=$(cat | grep -o '/[^ ]*/notes/[^/ ]*' | head -n 1)
try() { if sh -c "$2" >/dev/null 2>&1; then echo "$1"; else echo "no-$1"; fi >>tried; }
try notes "echo x >>$notes/README.md"
try project 'echo x >file'
try elsewhere 'echo x >/usr/file'
try identity 'cat ../../home/machine/boot'
try database 'cat ../../data/serve.json'
try journal "ls ../../home/agents/*/events"
rm "$notes/.task-lock"
echo '{"type":"result","subtype":"success","is_error":false,"result":"done","usage":{},"session_id":"s"}'
`

describe.skipIf(why !== '')(`an agent of Ralph Mode in the sandbox${why}`, { timeout: 120_000 }, () => {
  it('writes its notes and its project, and sees nothing else of Ralph', async () => {
    const base = createTestFolder()
    const [home, data, project] = [join(base, 'home'), join(base, 'data'), join(base, 'projects', 'one')]
    for (const path of [home, data, project]) mkdirSync(path, { recursive: true })
    writeFileSync(join(data, 'serve.json'), '{}')
    writeFileSync(join(project, 'agent.sh'), script)
    const backend = await createTestMachineBackend()
    const machineId = backend.memory.add('here')
    const server = await startAgentsServer({
      home,
      env: { ...process.env, HOME: base, IS_SANDBOX: '', PATH: `${folder}:${process.env['PATH']}` },
      alsoHidden: [data],
      machineId,
      version: '0.1.0',
      settings: { name: 'here', labels: [], roots: [base], slots: 1, notes: join(home, 'notes', '{agent}') },
      connect: () => backend.connect(machineId),
      log: () => {},
    })
    onTestFinished(async () => {
      await server.close()
      backend.machines.close()
    })
    const [agentId, promptId, sprintId] = [randomUUID(), randomUUID(), randomUUID()]
    backend.send(machineId, 'create-workspace', { agentId, name: 'one', workspace: { kind: 'folder', path: project } })
    backend.send(machineId, 'ralph-mode-setup', { agentId, taskDescription: 'try' })
    const live = { live: [buildLive()], protocol: 'notes' as const, sandbox: 'required' as const }
    const progress = buildProgress({ status: 'in-progress', ...live })
    const order = { type: 'run-attempt' as const, iteration: 1, attempt: 1 }
    const source = { kind: 'order' as const, sprintId, protocol: 'notes' as const, order, progress }
    const program = `command:/bin/sh ${join(project, 'agent.sh')}`
    backend.send(
      machineId,
      'prompt',
      { promptId, agentId, program, asked: source, leaseMs: 60_000 },
      `prompt:${promptId}`,
    )

    await expect
      .poll(() => backend.promptEnd(machineId, promptId)?.end, patience)
      .toMatchObject({ kind: 'fact', fact: { end: { kind: 'report', report: { status: 'goal-complete' } } } })
    expect(readFileSync(join(project, 'tried'), 'utf8').trim().split('\n')).toEqual([
      'notes',
      'project',
      'no-elsewhere',
      'no-identity',
      'no-database',
      'no-journal',
    ])
    const readNotes = () =>
      backend.events.get(agentId)?.flatMap(({ event }) => (event.type === 'note' ? [event.text] : []))
    await expect.poll(readNotes, patience).toEqual([expect.stringMatching(/^sandbox: bubblewrap [\d.]+: /)])
  })
})
