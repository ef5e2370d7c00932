import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createTestFolder } from '../../../test/support/folder.ts'
import { claude } from '../drivers/claude.ts'
import { codex } from '../drivers/codex.ts'
import { orderMounts } from './mounts.ts'
import { findPlaces, listSettings } from './places.ts'

it('shows an agent its own conversations, and none of other projects or of sessions that run now', async () => {
  const base = createTestFolder()
  const at = (name: string) => join(base, name)
  for (const name of [
    'home/.claude/projects/-other',
    'home/.claude/shell-snapshots',
    'my_project.js/.claude/sprints/s',
  ])
    mkdirSync(at(name), { recursive: true })
  writeFileSync(at('home/.claude/history.jsonl'), '')
  const etc = { folder: at('etc'), folders: {} }
  const view = await findPlaces({
    driver: claude,
    cwd: at('my_project.js'),
    sprintDir: at('my_project.js/.claude/sprints/s'),
    env: { HOME: at('home'), PATH: '/usr/bin' },
    programs: [],
    read: [],
    write: [],
    ralphHomes: [],
    files: { temporary: at('tmp'), etc, home: {}, sprints: at('sprints') },
  })
  const own = at('my_project.js').replaceAll(/[/_.]/g, '-')
  const shown = orderMounts(view).filter(({ path }) => path.startsWith(at('home/.claude/')))
  const kinds = Object.fromEntries(shown.map((mount) => [mount.path.slice(at('home/.claude/').length), mount]))
  expect(kinds).toMatchObject({
    projects: { kind: 'tmpfs' },
    [`projects/${own}`]: { kind: 'bind', write: true },
    'shell-snapshots': { kind: 'tmpfs' },
    'history.jsonl': { kind: 'bind', from: '/dev/null' },
    'settings.json': { kind: 'bind', write: false },
  })
})

it('protects the profiles of codex, its program and what it reads variables from', async () => {
  const home = createTestFolder()
  mkdirSync(join(home, '.codex'))
  writeFileSync(join(home, '.codex/work.config.toml'), '')
  const names = (await listSettings(codex, {}, home)).map((path) => path.slice(home.length + 1))
  expect(names).toEqual(
    expect.arrayContaining(['.codex/work.config.toml', '.codex/packages', '.codex/plugins', '.codex/.env']),
  )
  expect(names.join(' ')).not.toContain('*')
})

it('shows Ralph as a package of the project, and lets no agent change or move it', async () => {
  const cwd = createTestFolder()
  const packageFolder = join(cwd, 'node_modules/ralph-mode')
  for (const path of [packageFolder, join(cwd, '.claude/sprints/s')]) mkdirSync(path, { recursive: true })
  const place = { cwd, sprintDir: join(cwd, '.claude/sprints/s'), env: { HOME: createTestFolder(), PATH: '/usr/bin' } }
  const files = { temporary: '/tmp', etc: { folder: '/etc', folders: {} }, home: {}, sprints: cwd }
  const view = await findPlaces({ ...place, programs: [], read: [], write: [], ralphHomes: [], files, packageFolder })
  const mounts = orderMounts(view).filter(({ path }) => path.startsWith(join(cwd, 'node_modules')))
  expect(mounts).toEqual([
    { kind: 'bind', path: join(cwd, 'node_modules'), from: join(cwd, 'node_modules'), write: true },
    { kind: 'bind', path: packageFolder, from: packageFolder, write: false },
  ])
})
