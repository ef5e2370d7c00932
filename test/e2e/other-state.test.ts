import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { commitAll } from '../support/programs.ts'
import { createTestSprint } from '../support/sprint.ts'

const goalComplete = { status: 'goal-complete', summary: 'f', goalCompleteSummary: 'done' }

async function createFinishedSprint() {
  const sprint = await createTestSprint({ answers: { 1: { run: 'echo 1 > a.txt', report: goalComplete } } })
  await commitAll(sprint)
  expect(await sprint.run()).toMatchObject({ exitCode: 0 })
  return sprint
}

it('D9: doctor finds a damaged first record, which run refuses', async () => {
  const sprint = await createFinishedSprint()
  const [name = ''] = readdirSync(sprint.state('journal'))
  const bytes = readFileSync(sprint.state('journal', name))
  bytes[20] = (bytes[20] ?? 0) ^ 1
  writeFileSync(sprint.state('journal', name), bytes)

  expect(await sprint.ralph('doctor', 's')).toMatchObject({
    exitCode: 1,
    stdout: expect.stringMatching(/has a journal that cannot be read[^]*is damaged from its first record on/),
  })
  expect(await sprint.run()).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('JOURNAL_DAMAGED') })
  expect(await sprint.ralph('doctor', 's', '--repair')).toMatchObject({ exitCode: 0 })
})

it('D14: commands that only read work without the state, and say so', async () => {
  const sprint = await createFinishedSprint()
  const other = await createTestSprint({})
  const folder = sprint.at('s')

  const doctor = await other.ralph('doctor', folder)
  expect(doctor.stdout).toMatch(
    /completed according to PROGRESS.yaml[^]*not checked: its state belongs to another user/,
  )
  expect(doctor.stdout).not.toContain('every rule holds')
  expect(await other.ralph('status', folder)).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('completed'),
  })
  expect((await other.ralph('logs', folder)).stderr).toContain('belongs to another user')
  for (const command of ['watch', 'diff', 'report']) {
    const { stderr } = await other.ralph(command, folder)
    expect(stderr).not.toContain('INTERNAL')
  }
})

it('D14: a sprint of another user is not changed, in one line, and no rule of it is believed to hold', async () => {
  const sprint = await createFinishedSprint()
  const other = await createTestSprint({ obeysPermissions: true })
  const folder = sprint.at('s')
  chmodSync(folder, 0o555)

  const commands = [['run'], ['tell', 'hello'], ['pause'], ['stop'], ['prune'], ['report'], ['doctor', '--repair']]
  for (const [command = '', ...more] of commands) {
    const { exitCode, stderr } = await other.ralph(command, folder, ...more)
    expect({ command, exitCode, stderr }).toEqual({
      command,
      exitCode: 1,
      stderr: expect.stringMatching(/^\S+  error (?!INTERNAL)[A-Z_]+  [^\n]+\n$/),
    })
  }
  chmodSync(folder, 0o755)
  const doctor = await other.ralph('doctor', folder)
  expect(doctor.stdout).toContain('not checked: its state belongs to another user')
  expect(doctor.stdout).not.toContain('every rule holds')
})
