import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createTestSprint, waitUntil } from '../support/sprint.ts'

const claim = { status: 'goal-complete', summary: 'f', goalCompleteSummary: 'done' }

/** Runs a sprint on a machine with a keep-awake program, and returns that program's log. */
async function createLaptop() {
  const sprint = await createTestSprint({ answers: { '*': claim } })
  const log = sprint.at('..', 'awake')
  const script = `#!/bin/sh\ntrap 'echo ended >>${log}; exit' TERM\necho began >>${log}\nwhile :; do sleep 0.05; done\n`
  for (const name of ['caffeinate', 'systemd-inhibit'])
    await writeFile(join(sprint.at('..', 'bin'), name), script, { mode: 0o755 })
  await writeFile(log, '')
  return { sprint, readAwakeLog: () => sprint.read('../awake') }
}

it('keeps the machine awake while the sprint runs', async () => {
  const { sprint, readAwakeLog } = await createLaptop()

  expect(await sprint.run()).toMatchObject({ exitCode: 0 })

  await waitUntil('it to end', async () => (await readAwakeLog()) === 'began\nended\n')
})

it('lets the machine sleep with the flag', async () => {
  const { sprint, readAwakeLog } = await createLaptop()

  expect(await sprint.run('--no-keep-awake')).toMatchObject({ exitCode: 0 })

  expect(await readAwakeLog()).toBe('')
})
