import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createTestFolder } from '../../../test/support/folder.ts'
import { placesFor } from './places.ts'

/** A machine with this in it: a text is a file, null a folder. */
function aMachine(things: Readonly<Record<string, string | null>>) {
  const root = createTestFolder()
  for (const [name, text] of Object.entries(things)) {
    const path = join(root, name)
    mkdirSync(text === null ? path : join(path, '..'), { recursive: true })
    if (text !== null) writeFileSync(path, text)
  }
  return root
}

async function places(root: string, cwd = 'project') {
  const profile = await placesFor({
    driver: { state: () => ['.agent', '.agent.json'] },
    cwd: join(root, cwd),
    sprintDir: join(root, 'project/s'),
    temporary: join(root, 'project/s/tmp'),
    told: join(root, 'project/s/attempts/1-1/told'),
    env: { HOME: join(root, 'home'), PATH: `${join(root, 'bin')}:relative:` },
    programs: [join(root, 'tools')],
    ralphHomes: [join(root, 'home/.ralph')],
    asRoot: false,
  })
  const short = (paths: readonly string[]) => paths.map((path) => path.replace(`${root}/`, ''))
  return {
    readable: short(profile.readable),
    writable: short(profile.writable),
    readOnly: short(profile.readOnly),
    hidden: short(profile.hidden),
    told: short([profile.told])[0],
  }
}

const usual = {
  'project/.git': null,
  'project/s/tmp': null,
  'project/s/journal': null,
  'project/s/SPRINT.yaml': '',
  home: null,
  bin: null,
}

it('lets the project, the state of the agent and caches be written, as far as they are there', async () => {
  const root = aMachine({ ...usual, 'home/.agent': null, 'home/.npm': null, 'home/.ralph': null, tools: null })

  expect(await places(root)).toEqual({
    readable: ['home', 'bin', 'tools'],
    writable: ['project', 'project/s', 'home/.agent', 'home/.npm', 'project/.git'],
    readOnly: ['project/s/SPRINT.yaml', 'project/s/journal', 'project/s/tmp'],
    hidden: ['home/.ralph'],
    told: 'project/s/attempts/1-1/told',
  })
})

it('keeps hooks and configuration of every repository, and workflows, as they are', async () => {
  const root = aMachine({
    ...usual,
    'project/.git/hooks': null,
    'project/.git/config': '',
    'project/part/.git/config': '',
    'project/.claude/workflows': null,
  })
  const { writable, readOnly } = await places(root)

  expect(writable).toEqual(['project', 'project/s', 'project/.git', 'project/part/.git'])
  expect(readOnly.slice(3)).toEqual([
    'project/.claude/workflows',
    'project/.git/hooks',
    'project/.git/config',
    'project/part/.git/config',
  ])
})

it('finds the repository around a project, and the one that a worktree shares', async () => {
  const root = aMachine({
    ...usual,
    'main/.git/config': '',
    'main/.git/worktrees/w/commondir': '../..',
    'tree/.git': 'gitdir: ../main/.git/worktrees/w\n',
    'tree/deep/project/x': '',
  })
  const { writable, readOnly } = await places(root, 'tree/deep/project')

  expect(writable).toEqual(['tree/deep/project', 'project/s', 'main/.git/worktrees/w', 'main/.git'])
  expect(readOnly).toContain('tree/.git')
  expect(readOnly).toContain('main/.git/config')
})

it('hides Ralph’s folder also from an agent that works in it, but for its work', async () => {
  const root = aMachine({ ...usual, 'home/.ralph/work/.git': null })

  const { hidden, writable } = await places(root, 'home/.ralph/work')
  expect([hidden, writable]).toEqual([['home/.ralph'], ['home/.ralph/work', 'project/s', 'home/.ralph/work/.git']])
})
