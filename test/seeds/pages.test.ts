import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { buildProgress } from '../support/builders.ts'
import { buildNotesPrompt } from '../../src/loop/ways/notes/notes-prompt.ts'
import { fromProgress } from '../../src/loop/progress-codec.ts'
import { root } from '../support/paths.ts'

const readPage = (page: string): string => readFileSync(join(root, page), 'utf8')
const concept = 'docs/concepts/ralph-mode.md'
/** The text below a heading, up to the next one of the same level. */
const readSection = (page: string, heading: RegExp): string =>
  readPage(page)
    .split(/^(?=## )/m)
    .find((section) => heading.test(section.split('\n')[0] ?? '')) ?? ''

it('docs/concepts/ralph-mode.md has the diagram, the modes and the comparison of 001 (rows 76, 90, 91)', () => {
  const diagram = readSection(concept, /Two halves/)
  for (const part of ['free: the agent', 'fixed: Ralph', 'hook 1', 'hook 2', 'dynamic-steps', 'hook-tasks', 'claimed'])
    expect(diagram).toContain(part)
  const modes = readSection(concept, /Three kinds/)
  for (const mode of ['planning', 'executing', 'reflecting']) expect(modes).toMatch(new RegExp(`^\\| ${mode} `, 'm'))
  const table = readSection(concept, /Compared with standard mode/)
  for (const aspect of ['steps', 'iterations', 'ends when', 'hooks', 'reflection', 'suits'])
    expect(table).toMatch(new RegExp(`^\\| ${aspect} `, 'm'))
})

it('lists what suits ralph mode and what suits standard mode, as 001:428-439 does (row 151)', () => {
  const good = readSection(concept, /When to use ralph mode/).toLowerCase()
  for (const use of ['feature', 'research', 'refactoring', 'bug']) expect(good).toContain(use)
  const better = readSection(concept, /When standard mode fits better/).toLowerCase()
  for (const use of ['deployment', 'compliance', 'release']) expect(better).toContain(use)
})

it.each([
  ['Loop never exits', /never ends|does not end|runs on/i],
  ['Hook not running', /hook .*(not run|never runs|does not run)/i],
  ['Stuck in reflection', /reflect/i],
  ['Steps keep growing', /steps .*grow|more and more steps|list of steps/i],
  ['Goal-complete ignored', /min-iterations/],
  ['No JSON result parsed', /```json|no report|malformed/],
])('troubleshooting has the row of 001:447-452 about "%s" (row 152)', (_, about) => {
  const rows = readPage('docs/guides/troubleshooting.md').split('\n')
  expect(rows.filter((row) => row.startsWith('|') && about.test(row))).not.toEqual([])
})

it.each([
  ['ralph-loop.md', 'loop.md'],
  ['workflow-compilation.md', '../guides/sprint-yaml.md'],
  ['progress-schema.md', '../reference/progress-yaml.md'],
  ['overview.md', 'ways.md'],
])('the page of 001:458-464 called %s is here %s, and linked (row 153)', (_, page) => {
  expect(readPage(concept)).toContain(`(${page})`)
  expect(existsSync(join(root, dirname(concept), page))).toBe(true)
})

it('the calls of 002 are documented under their names (rows 168, 175, 179, 186)', () => {
  const page = readPage('docs/concepts/machines.md')
  for (const route of ['/ralph-mode-setup', '/prompt', '/claude-state', '/reset', '/ralph-mode-check-lock'])
    expect(page).toContain(`| \`${route}\``)
})

it('the Ralph Mode prompt is that of 002:299-315 word for word, except the folder and point 5 (row 199)', () => {
  const words = (text: string) => text.replaceAll(/\s+/g, ' ').trim()
  const seed = readPage('test/fixtures/seeds/002-prompt.txt').replaceAll('~/.ariana-ralph-notes/', '/notes/')
  const prompt = words(buildNotesPrompt(fromProgress(buildProgress({ protocol: 'notes' })), '/notes'))
  const [first = '', fifth = ''] = words(seed).split(/(?= 5\. )/)
  const [ours = '', ourFifth = ''] = prompt.split(/(?= 5\. )/)
  expect(ours).toBe(first)
  const start =
    "5. if the task is finished and would like to notify the human or you're dead stuck and need a human to intervene,"
  expect(words(fifth)).toBe(`${start} delete the .task-lock file`)
  expect(words(ourFifth).startsWith(start)).toBe(true)
  expect(words(ourFifth).endsWith('then delete the /notes/.task-lock file')).toBe(true)
})
