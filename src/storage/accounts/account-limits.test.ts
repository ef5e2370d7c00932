import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { accountLimits } from './account-limits.ts'

async function aHome() {
  const base = await mkdtemp(join(tmpdir(), 'ralph-home-'))
  onTestFinished(() => rm(base, { recursive: true, force: true }))
  return { home: join(base, 'home') }
}

it('knows no limit at first, and creates no folder to say so', async () => {
  const { home } = await aHome()

  expect(await accountLimits(home).until('claude')).toBeUndefined()
  await expect(readdir(home)).rejects.toMatchObject({ code: 'ENOENT' })
})

it('shares the limit that one sprint hit with every sprint of the account', async () => {
  const { home } = await aHome()
  await accountLimits(home).note('claude', 5000)
  await accountLimits(home).note('codex', 7000)
  await accountLimits(home).note('claude', 6000)
  const other = accountLimits(home)

  expect([await other.until('claude'), await other.until('codex'), await other.until('gemini')]).toEqual([
    6000,
    7000,
    undefined,
  ])
})

it('keeps limits that several sprints write at the same moment', async () => {
  const { home } = await aHome()
  const names = Array.from({ length: 20 }, (_, n) => `agent-${n}`)
  await Promise.all(names.map((name, n) => accountLimits(home).note(name, n + 1)))

  expect(await Promise.all(names.map((name) => accountLimits(home).until(name)))).toEqual(names.map((_, n) => n + 1))
})

it('distinguishes accounts without storing who they are', async () => {
  const { home } = await aHome()
  const mine = accountLimits(home, () => 'sk-mine')
  const yours = accountLimits(home, () => 'sk-yours')
  await mine.note('claude', 5000)

  expect([await mine.until('claude'), await yours.until('claude')]).toEqual([5000, undefined])
  const [name = ''] = await readdir(join(home, 'limits'))
  expect(`${name} ${await readFile(join(home, 'limits', name), 'utf8')}`).not.toContain('sk-')
})

it.each([
  ['torn', '{"claude": 50'],
  ['not ours', '["claude"]'],
  ['of another shape', '{"claude": "tomorrow"}'],
  ['empty', ''],
])('ignores a file that is %s, and overwrites it with the next limit', async (_, text) => {
  const { home } = await aHome()
  const limits = accountLimits(home)
  await limits.note('claude', 4000)
  const [name = ''] = await readdir(join(home, 'limits'))
  await writeFile(join(home, 'limits', name), text)

  expect(await limits.until('claude')).toBeUndefined()
  await limits.note('claude', 5000)
  expect(await limits.until('claude')).toBe(5000)
})

it.each(['__proto__', 'constructor', 'command:./my agent --flag'])('takes any name: %s', async (name) => {
  const { home } = await aHome()

  expect(await accountLimits(home).until(name)).toBeUndefined()
  await accountLimits(home).note(name, 5000)
  expect(await accountLimits(home).until(name)).toBe(5000)
})
