import { existsSync, lstatSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createTestFolder } from '../../../test/support/folder.ts'
import { claude } from '../drivers/claude.ts'
import { gemini } from '../drivers/gemini.ts'
import { recordSettings, restoreSettings } from './agent-settings.ts'

const createHome = () => {
  const base = createTestFolder()
  const home = join(base, 'home')
  for (const name of ['.claude', '.gemini', 'dotfiles']) mkdirSync(join(home, name), { recursive: true })
  return { base, home, at: (name: string) => join(home, name), env: { HOME: home } }
}

it('restores servers and trust that an attempt added, and keeps what the program wrote itself', async () => {
  const { base, at, env } = createHome()
  const old = { mcpServers: { mine: { command: 'a' } }, projects: { '/p': { allowedTools: ['x'], cost: 1 } } }
  writeFileSync(at('.claude.json'), JSON.stringify(old))
  await recordSettings(base, { driver: claude, env, cwd: base })
  const added = { mcpServers: { evil: { command: 'b' } }, hasTrustDialogAccepted: true }
  const now = { ...added, starts: 7, projects: { '/p': { ...added, cost: 2 }, '/q': { ...added, cost: 3 } } }
  writeFileSync(at('.claude.json'), JSON.stringify(now))
  expect(await restoreSettings(base)).toEqual([
    `restored mcpServers, hasTrustDialogAccepted, allowedTools in ${at('.claude.json')}, which your own sessions use`,
  ])
  expect(JSON.parse(readFileSync(at('.claude.json'), 'utf8'))).toEqual({
    mcpServers: { mine: { command: 'a' } },
    starts: 7,
    projects: { '/p': { allowedTools: ['x'], cost: 2 }, '/q': { cost: 3 } },
  })
})

it('restores from the snapshot that an earlier version wrote before it was upgraded', async () => {
  const { base, at } = createHome()
  const obeyed = {
    file: at('.claude.json'),
    keys: ['mcpServers'],
    within: ['projects'],
    before: { '': { mcpServers: { mine: { command: 'a' } } } },
  }
  writeFileSync(join(base, 'agent-settings.json'), JSON.stringify({ absent: [], links: {}, obeyed }))
  writeFileSync(at('.claude.json'), JSON.stringify({ mcpServers: { evil: { command: 'b' } }, starts: 7 }))
  expect(await restoreSettings(base)).toEqual([
    `restored mcpServers in ${at('.claude.json')}, which your own sessions use`,
  ])
  expect(JSON.parse(readFileSync(at('.claude.json'), 'utf8'))).toEqual({
    mcpServers: { mine: { command: 'a' } },
    starts: 7,
  })
})

it('leaves the file alone if only empty values and other keys changed', async () => {
  const { base, at, env } = createHome()
  writeFileSync(at('.claude.json'), '{}')
  await recordSettings(base, { driver: claude, env, cwd: base })
  const text = '{"starts":1,"projects":{"/p":{"mcpServers":{},"allowedTools":[],"hasTrustDialogAccepted":false}}}'
  writeFileSync(at('.claude.json'), text)
  expect(await restoreSettings(base)).toEqual([])
  expect(readFileSync(at('.claude.json'), 'utf8')).toBe(text)
})

it('restores a link of the user, and removes a file that was not there', async () => {
  const { base, at, env } = createHome()
  symlinkSync('../dotfiles/CLAUDE.md', at('.claude/CLAUDE.md'))
  await recordSettings(base, { driver: claude, env, cwd: base })
  rmSync(at('.claude/CLAUDE.md'))
  writeFileSync(at('.claude/CLAUDE.md'), 'evil')
  expect(await restoreSettings(base)).toEqual([
    `restored the link ${at('.claude/CLAUDE.md')}, which your own sessions use`,
  ])
  expect(lstatSync(at('.claude/CLAUDE.md')).isSymbolicLink()).toBe(true)

  rmSync(join(base, 'agent-settings.json'))
  await recordSettings(base, { driver: gemini, env, cwd: base })
  writeFileSync(at('.gemini/.env'), 'GOOGLE_GEMINI_BASE_URL=http://evil')
  expect(await restoreSettings(base)).toEqual([
    `removed ${at('.gemini/.env')}, which would have changed your own sessions`,
  ])
  expect(existsSync(at('.gemini/.env'))).toBe(false)
})

it('removes a settings file that claude would read instead of its own', async () => {
  const { base, at, env } = createHome()
  await recordSettings(base, { driver: claude, env, cwd: base })
  writeFileSync(at('.claude/.config.json'), JSON.stringify({ mcpServers: { evil: { command: 'b' } } }))
  expect(await restoreSettings(base)).toEqual([
    `removed ${at('.claude/.config.json')}, which would have changed your own sessions`,
  ])
  expect(existsSync(at('.claude/.config.json'))).toBe(false)
})

it('moves new settings of the project aside, and leaves those alone that were there', async () => {
  const { base, env } = createHome()
  const cwd = createTestFolder()
  writeFileSync(join(cwd, '.mcp.json'), '{}')
  await recordSettings(base, { env, cwd })
  writeFileSync(join(cwd, '.mcp.json'), '{"a":1}')
  mkdirSync(join(cwd, '.gemini'))
  expect(await restoreSettings(base)).toEqual([
    expect.stringContaining(`moved ${cwd}/.gemini to ${cwd}/.gemini.moved-by-ralph-1: `),
  ])
})
