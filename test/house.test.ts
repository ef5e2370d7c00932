import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { findKnots } from '../scripts/house/knots.mjs'
import { findViolations } from '../scripts/house/voice.mjs'
import { root } from './support/paths.ts'

describe('the voice check', () => {
  const rulesFor = (text: string) =>
    findViolations({ path: 'src/x.ts', text }).map(({ rule }) => rule.replace(/ \(.*/, ''))

  it.each([
    ['// Somebody else may hold the lock.', 'odd word'],
    ['/** Whoever waits is told at once. */', 'odd word'],
    ["it('goes on after a crash', () => {})", 'odd word'],
    ['/**\n * Retried so many times.\n */', 'odd word'],
    ['export const stateOf = (x: X) => x.state', 'name ends in Of'],
    ['async function keysOf() {}', 'name ends in Of'],
    ['export type Wanted = { readonly name: string }', 'type is a bare participle'],
    ['type Request = { readonly id: string }', 'name shadows a global'],
  ])('refuses %j', (text, rule) => {
    expect(rulesFor(text)).toContain(rule)
  })

  it('allows plain English, and the same words in code and in strings', () => {
    const text = [
      '// The caller retries at most five times.',
      'export function readState() {}',
      "const text = 'somebody'",
      'export type LockOwner = { readonly pid: number }',
    ].join('\n')
    expect(rulesFor(text)).toEqual([])
  })

  it('finds nothing in this repository', () => {
    expect(() =>
      execFileSync(process.execPath, ['scripts/house.mjs', '--check'], { cwd: root, stdio: 'pipe' }),
    ).not.toThrow()
  })
})

describe('the folders of one layer', () => {
  it('would be caught importing each other, also through a third one', () => {
    const source = (path: string, ...imports: string[]) => ({
      path,
      text: imports.map((name) => `import { x } from '${name}'`).join('\n'),
    })
    expect(
      findKnots([
        source('src/cli/live/a.ts', '../report/b.ts'),
        source('src/cli/report/b.ts', '../main.ts'),
        source('src/cli/main.ts', './live/a.ts'),
        source('src/cli/io/c.ts', '../../contract/errors.ts'),
      ]),
    ).toEqual(['cli <-> cli/live', 'cli <-> cli/report', 'cli/live <-> cli/report'])
  })

  it('do not import each other', () => {
    const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.tsx?$/.test(name) && !/\.test\.|\.d\.ts$/.test(name))
      .map((name) => ({ path: `src/${name}`, text: readFileSync(join(root, 'src', name), 'utf8') }))
    expect(findKnots(sources)).toEqual([])
  })
})

describe('the npm scripts', () => {
  it('are at most 20; the others are arguments of bench, check and test:more', () => {
    const { scripts }: { scripts: Record<string, string> } = JSON.parse(
      readFileSync(join(root, 'package.json'), 'utf8'),
    )
    expect(Object.keys(scripts).length).toBeLessThanOrEqual(20)
  })
})

describe('AGENTS.md and the decision about the house', () => {
  it.each(['AGENTS.md', 'docs/decisions/0022-the-house.md'])('name only paths that exist: %s', (page) => {
    const text = readFileSync(join(root, page), 'utf8')
    const paths = [...text.matchAll(/`((?:src|assets|test|scripts|docs)\/[\w./-]+)`/g)].map(([, path = '']) => path)
    expect(paths.length).toBeGreaterThan(10)
    expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([])
  })

  it('names each command once', () => {
    const [table = ''] = /## Commands\n[\s\S]*?\n## /.exec(readFileSync(join(root, 'AGENTS.md'), 'utf8')) ?? []
    const commands = [...table.matchAll(/^\| `([^`]+)`/gm)].map(([, command]) => command)
    expect(commands.length).toBeGreaterThan(10)
    expect(new Set(commands).size).toBe(commands.length)
  })
})
