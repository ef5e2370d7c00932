import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { RunningBackend } from '../../src/cli/serve/running-backend.ts'
import { createClient } from '../../src/client/client.ts'
import { createTestFolder } from '../support/folder.ts'
import { root } from '../support/paths.ts'
import { findFreePort } from '../support/free-port.ts'
import { createRalphProcess } from './ralph-process.ts'
import { timeoutOptions } from './real-machines.ts'
import { createDataFolder } from './test-fleet.ts'

type Notes = { readonly args?: (folder: string) => readonly string[]; readonly env?: (folder: string) => object }

/** `ralph serve` with the machine inside it, for a user whose home has the notes of Ariana. */
async function serveNotes({ args = () => [], env = () => ({}) }: Notes) {
  const folder = createTestFolder()
  const data = await createDataFolder()
  const home = join(folder, 'home')
  mkdirSync(join(home, '.ariana-ralph-notes'), { recursive: true })
  writeFileSync(join(home, '.ariana-ralph-notes', 'README.md'), '# Notes\n\nWe use argon2.\n')
  writeFileSync(join(home, '.ariana-ralph-notes', '.task-lock'), '')
  const project = join(home, 'project')
  mkdirSync(project)
  writeFileSync(join(project, 'enough'), '1')

  const user = { ...process.env, HOME: home, RALPH_HOME: join(home, '.ralph'), RALPH_NOTES: '', ...env(folder) }
  const program = createRalphProcess(user, { log: join(folder, 'serve.log') })
  program.start('serve', '--port', `${await findFreePort()}`, '--data', data, '--json', ...args(folder))
  const file = join(data, 'serve.json')
  await expect.poll(() => existsSync(file), timeoutOptions).toBe(true)
  const { origin, token } = RunningBackend.parse(JSON.parse(readFileSync(file, 'utf8')))
  const api = createClient({ baseUrl: origin, token })
  await expect.poll(async () => (await api.listMachines({})).items[0]?.reachable, timeoutOptions).toBe(true)
  return { folder, home, project, api }
}

it.each<[string, Notes]>([
  ['serve --notes', { args: (folder) => ['--notes', join(folder, 'notes', '{agent}')] }],
  ['RALPH_NOTES', { env: (folder) => ({ RALPH_NOTES: join(folder, 'notes', '{agent}') }) }],
])(
  '%s decides where the machine inside "ralph serve" keeps notes, and those of Ariana are taken over (row 169)',
  async (_, notes) => {
    const { folder, home, project, api } = await serveNotes(notes)
    const { id: agentId } = await api.createAgent({
      name: 'Auth',
      workspace: { kind: 'folder', path: project },
      program: `command:/bin/sh ${join(root, 'test/fleet/machine-notes-agent.sh')}`,
    })
    await api.startRalphMode({ agentId, taskDescription: 'Add logout', doneWhen: [] })
    await expect.poll(async () => (await api.getAgent({ agentId })).sprint?.status, timeoutOptions).toBe('completed')

    const { folder: directory, notes: found } = await api.listNotes({ agentId })
    expect(directory.startsWith(join(folder, 'notes'))).toBe(true)
    const [readme] = found
    for (const text of ['We use argon2.', 'Add logout', '- one more unit']) expect(readme?.text).toContain(text)
    expect(readFileSync(join(home, '.ariana-ralph-notes', 'README.md'), 'utf8')).toBe('# Notes\n\nWe use argon2.\n')
  },
  180_000,
)
