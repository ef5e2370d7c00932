import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { expect, it, onTestFinished } from 'vitest'
import { completedReport, createPhasesSprint } from '../support/phases-sprint.ts'
import { waitUntil } from '../support/sprint.ts'
import { createSprintUnderFire, type UnderFire } from './sprint-under-fire.ts'

/** A sprint that has worked for some iterations and was killed; all its agents have ended. */
async function createKilledSprint() {
  const sprint = await createSprintUnderFire()
  onTestFinished(() => sprint.remove())
  const run = sprint.run()
  await waitUntil('three iterations', () => (run.output().stdout.match(/"iteration-ended"/g) ?? []).length >= 3)
  run.kill()
  await run.ended
  await waitUntil('the agent to end', () => sprint.processes().length === 0)
  const at = (...names: readonly string[]) => sprint.at('project', 's', ...names)
  return { sprint, at, segment: sprint.state('journal', '00000001.log') }
}

type Report = {
  machine: { name: string; ok: boolean; text: string }[]
  sprint: { findings: { invariant: string; level: string; text: string }[]; progress: { status: string } | null }
  repaired: string[]
}

async function doctor(sprint: UnderFire, ...args: readonly string[]): Promise<Report & { exitCode: number | null }> {
  const { exitCode, stdout, stderr } = await sprint.ralph('doctor', 's', '--json', ...args).ended
  if (stdout === '') throw new Error(stderr)
  return { exitCode, ...JSON.parse(stdout) }
}

const broken = ({ sprint }: Report) => sprint.findings.filter(({ level }) => level === 'broken').map(({ text }) => text)

/** Resumes the sprint until it ends. */
async function resumeToEnd(sprint: UnderFire): Promise<void> {
  sprint.finish()
  expect(await sprint.run().ended).toMatchObject({ exitCode: 0 })
  const after = await doctor(sprint)
  expect({ exitCode: after.exitCode, broken: broken(after), status: after.sprint.progress?.status }).toEqual({
    exitCode: 0,
    broken: [],
    status: 'completed',
  })
}

it('examines the machine alone, and reports what is missing there only as a warning', async () => {
  const sprint = await createSprintUnderFire()
  onTestFinished(() => sprint.remove())
  const { exitCode, stdout } = await sprint.ralph('doctor').ended

  expect(exitCode).toBe(0)
  expect(stdout).toMatch(/node +\d+\.\d+/)
  expect(stdout).toMatch(/claude +2\.1\.0/)
  expect(stdout).toMatch(/disk +.* GB free/)
})

it('finds every rule intact in a killed sprint, and says what the next run will fix', async () => {
  const { sprint } = await createKilledSprint()
  const report = await doctor(sprint)

  expect({ exitCode: report.exitCode, broken: broken(report) }).toEqual({ exitCode: 0, broken: [] })
  await resumeToEnd(sprint)
})

it('examines a sprint with phases by the same rules', async () => {
  const phases = ['a', 'b'].map((id) => ({ id, prompt: `Task ${id}.` }))
  const hooks = { 'per-iteration-hooks': [{ id: 'lint', run: 'true' }] }
  const sprint = await createPhasesSprint(phases, { workflow: hooks, answers: { '*': completedReport } })
  expect(await sprint.run()).toMatchObject({ exitCode: 0 })

  const { exitCode, stdout } = await sprint.ralph('doctor', 's', '--json')
  expect({ exitCode, findings: JSON.parse(stdout).sprint.findings }).toEqual({ exitCode: 0, findings: [] })
})

it('cuts off a torn end', async () => {
  const { sprint, segment } = await createKilledSprint()
  writeFileSync(segment, '0badc0de {"v":1,"seq":', { flag: 'a' })
  expect((await doctor(sprint)).sprint.findings.map(({ invariant }) => invariant)).toContain('I1')

  const { repaired, exitCode } = await doctor(sprint, '--repair')
  expect(repaired.join()).toMatch(/cut \d+ bytes off the end of .*00000001\.log/)
  expect(exitCode).toBe(0)
  await resumeToEnd(sprint)
})

it('continues from PROGRESS.yaml if the disk has lost the end of the journal', async () => {
  const { sprint, segment } = await createKilledSprint()
  await sprint.run(['timeout', '-s', 'INT', '2']).ended
  const { rev } = sprint.account().progress
  truncateSync(segment, Math.floor(statSync(segment).size * 0.8))
  const before = await doctor(sprint)
  expect(before.exitCode).toBe(1)
  expect(broken(before).join()).toMatch(/PROGRESS.yaml is of rev \d+, the journal ends at rev \d+/)

  const { repaired, exitCode } = await doctor(sprint, '--repair')
  expect(repaired.join()).toMatch(new RegExp(`from PROGRESS.yaml, at rev ${rev}`))
  expect(exitCode).toBe(0)
  await resumeToEnd(sprint)
})

it('moves a damaged segment aside and continues from PROGRESS.yaml, which is newer', async () => {
  const { sprint, segment } = await createKilledSprint()
  const bytes = readFileSync(segment)
  const second = bytes.indexOf(10, bytes.indexOf(10) + 1) + 1
  bytes[second + 40] = 0x7f
  writeFileSync(segment, bytes)
  const { rev, stats } = sprint.account().progress

  const before = await doctor(sprint)
  expect(before.exitCode).toBe(1)
  expect(broken(before)[0]).toMatch(/00000001\.log is damaged behind record 2/)
  expect(await sprint.run().ended).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('JOURNAL_DAMAGED') })

  const { repaired, exitCode } = await doctor(sprint, '--repair')
  expect(repaired.join()).toMatch(
    new RegExp(`from PROGRESS.yaml, at rev ${rev}, iteration ${stats['current-iteration']}`),
  )
  expect(exitCode).toBe(0)
  expect(readFileSync(`${segment}.quarantined`)).toEqual(bytes)
  expect(existsSync(sprint.state('journal', '00000001.log'))).toBe(true)
  await resumeToEnd(sprint)
})

it('continues from the good part of the journal if PROGRESS.yaml is gone too', async () => {
  const { sprint, at, segment } = await createKilledSprint()
  const bytes = readFileSync(segment)
  bytes[Math.floor(bytes.length * 0.8)] = 0x7f
  writeFileSync(segment, bytes)
  rmSync(at('PROGRESS.yaml'))

  const { repaired } = await doctor(sprint, '--repair')
  expect(repaired.join()).toMatch(/from the good part of the journal/)
  expect(existsSync(at('PROGRESS.yaml'))).toBe(true)
  await resumeToEnd(sprint)
})

it('removes leftovers and shows the state again, and nothing else', async () => {
  const { sprint, at } = await createKilledSprint()
  writeFileSync(at('PROGRESS.yaml.12.3.tmp'), 'x')
  writeFileSync(at('mine.tmp'), 'x')
  rmSync(at('PROGRESS.yaml'))
  const { repaired } = await doctor(sprint, '--repair')

  expect(repaired).toEqual([
    expect.stringContaining('PROGRESS.yaml.12.3.tmp'),
    expect.stringMatching(/^wrote PROGRESS.yaml/),
  ])
  expect(readdirSync(at())).toContain('mine.tmp')
  expect(await doctor(sprint, '--repair')).toMatchObject({ repaired: [], exitCode: 0 })
})

it('finds work that was done without being recorded', async () => {
  const { sprint } = await createKilledSprint()
  mkdirSync(sprint.state('attempts', '99-1'))
  const report = await doctor(sprint)

  expect(report.exitCode).toBe(1)
  expect(broken(report)).toEqual(['99-1 is there, but iteration 99 has never begun'])
})

it('only reads while another process runs the sprint', async () => {
  const sprint = await createSprintUnderFire()
  onTestFinished(() => sprint.remove())
  const run = sprint.run()
  await run.ready
  const report = await doctor(sprint)
  const repair = await sprint.ralph('doctor', 's', '--repair').ended
  run.kill()
  await run.ended

  expect(report).toMatchObject({ exitCode: 0, sprint: { running: expect.stringContaining(`pid ${run.pid}`) } })
  expect(repair).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('SPRINT_LOCKED') })
})
