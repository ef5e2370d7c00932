import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openAccountLimits } from './account-limits.ts'

async function createHome() {
  const base = await mkdtemp(join(tmpdir(), 'ralph-home-'))
  onTestFinished(() => rm(base, { recursive: true, force: true }))
  return { home: join(base, 'home') }
}

it('has no limit at first, and creates no folder for it', async () => {
  const { home } = await createHome()

  expect(await openAccountLimits(home).limitedUntil('claude')).toBeUndefined()
  await expect(readdir(home)).rejects.toMatchObject({ code: 'ENOENT' })
})

it('shares the limit that one sprint hit with every sprint of the account', async () => {
  const { home } = await createHome()
  await openAccountLimits(home).record('claude', 5000)
  await openAccountLimits(home).record('codex', 7000)
  await openAccountLimits(home).record('claude', 6000)
  const other = openAccountLimits(home)

  expect([
    await other.limitedUntil('claude'),
    await other.limitedUntil('codex'),
    await other.limitedUntil('gemini'),
  ]).toEqual([6000, 7000, undefined])
})

it('keeps limits that several sprints write at the same moment', async () => {
  const { home } = await createHome()
  const names = Array.from({ length: 20 }, (_, n) => `agent-${n}`)
  await Promise.all(names.map((name, n) => openAccountLimits(home).record(name, n + 1)))

  expect(await Promise.all(names.map((name) => openAccountLimits(home).limitedUntil(name)))).toEqual(
    names.map((_, n) => n + 1),
  )
})

it('distinguishes accounts without storing who they are', async () => {
  const { home } = await createHome()
  const mine = openAccountLimits(home, () => 'sk-mine')
  const yours = openAccountLimits(home, () => 'sk-yours')
  await mine.record('claude', 5000)

  expect([await mine.limitedUntil('claude'), await yours.limitedUntil('claude')]).toEqual([5000, undefined])
  const [name = ''] = await readdir(join(home, 'limits'))
  expect(`${name} ${await readFile(join(home, 'limits', name), 'utf8')}`).not.toContain('sk-')
})

it.each([
  ['torn', '{"claude": 50'],
  ['not ours', '["claude"]'],
  ['of another shape', '{"claude": "tomorrow"}'],
  ['empty', ''],
])('ignores a file that is %s, and overwrites it with the next limit', async (_, text) => {
  const { home } = await createHome()
  const limits = openAccountLimits(home)
  await limits.record('claude', 4000)
  const [name = ''] = await readdir(join(home, 'limits'))
  await writeFile(join(home, 'limits', name), text)

  expect(await limits.limitedUntil('claude')).toBeUndefined()
  await limits.record('claude', 5000)
  expect(await limits.limitedUntil('claude')).toBe(5000)
})

it.each(['__proto__', 'constructor', 'command:./my agent --flag'])('takes any name: %s', async (name) => {
  const { home } = await createHome()

  expect(await openAccountLimits(home).limitedUntil(name)).toBeUndefined()
  await openAccountLimits(home).record(name, 5000)
  expect(await openAccountLimits(home).limitedUntil(name)).toBe(5000)
})
