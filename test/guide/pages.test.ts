import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { sidebar } from '../../docs/.vitepress/sidebar.mts'
import { examinePage, isGenerated, limits, summarize } from '../../scripts/prose/rules.mjs'
import { drivers } from '../../src/agents/drivers/registry.ts'
import { commands } from '../../src/cli/commands.ts'
import { compile } from '../../src/compiler/compile.ts'
import { Sprint } from '../../src/contract/sprint.ts'
import { root } from '../support/paths.ts'

const read = (file: string): string => readFileSync(join(root, file), 'utf8')
const docs = markdownIn('docs')
const pages = ['README.md', 'CHANGELOG.md', 'SECURITY.md', ...docs, ...markdownIn('plugin')]
/** A workflow for settings that only phases have. */
const phased = 'name: w\nphases: [{ id: a, prompt: p }]\n'
const written = pages.filter((page) => !isGenerated(page, read(page)))

describe('the site', () => {
  it('has every page in its sidebar, once, and no other', () => {
    const links = sidebar.flatMap(({ items }) => items.map(({ link }) => `docs${link}.md`))
    const listed = docs.filter((page) => page !== 'docs/index.md' && !/decisions\/\d/.test(page))
    expect(links.toSorted()).toEqual(listed.toSorted())
  })

  it('lists every decision', () => {
    const index = read('docs/decisions/index.md')
    const decisions = docs.filter((page) => /decisions\/\d/.test(page)).map((page) => page.split('/').at(-1) ?? '')
    expect(decisions.filter((name) => !index.includes(`(${name})`))).toEqual([])
  })

  it('has every picture that a page shows, as a file of the repository', () => {
    const shown = pages.flatMap((page) =>
      [...read(page).matchAll(/!\[[^\]]*\]\(([^)]+)\)/g)].map(([, file = '']) => join(page, '..', file)),
    )
    expect(shown.length).toBeGreaterThan(8)
    expect(shown.filter((file) => !existsSync(join(root, file)))).toEqual([])
    expect(pages.flatMap((page) => [...read(page).matchAll(/!\[\]\(/g)])).toEqual([])
  })
})

describe('the README', () => {
  it('tests the project as CI does', () => {
    expect(read('README.md')).toContain('npm ci && npm test')
    expect(read('.ci/run')).toMatch(/^step npm ci .*\n[\s\S]*^step npm test$/m)
  })

  it('runs only scripts that exist', () => {
    const { scripts } = z.object({ scripts: z.record(z.string(), z.string()) }).parse(JSON.parse(read('package.json')))
    const called = pages.flatMap((page) =>
      [...read(page).matchAll(/\bnpm run ([a-z:]+)/g)].map(([, name = '']) => name),
    )
    const others = ['lint', 'vacuum'] // of the projects in examples
    expect(called.filter((name) => !(name in scripts) && !others.includes(name))).toEqual([])
  })
})

describe('code blocks', () => {
  const calls = pages.flatMap((page) => {
    const inText = [...read(page).matchAll(/`(ralph [^`]+)`/g)].map(([, code = '']) => code)
    return [...shellLines(read(page)), ...inText].flatMap((line) =>
      [...line.matchAll(/(?:^|\$\(|&& |-- )ralph ([a-z][a-z-]*)([^|&#)]*)/g)].map(([, name = '', rest = '']) => ({
        page,
        name,
        rest,
      })),
    )
  })

  it('call only commands and options that exist', async () => {
    expect(calls.length).toBeGreaterThan(150)
    const wrong: string[] = []
    for (const { page, name, rest } of calls) {
      const command = Object.entries(commands).find(([known]) => known === name)?.[1]
      if (!command) {
        wrong.push(`${page}: ralph ${name}`)
        continue
      }
      const { about } = await command.load()
      const flags = [...rest.matchAll(/(?<=\s)--([a-z-]+)/g)].map(([, flag = '']) => flag)
      wrong.push(...flags.filter((flag) => !(flag in about.options)).map((flag) => `${page}: ralph ${name} --${flag}`))
    }
    expect(wrong).toEqual([])
  })

  const fields = Object.keys(z.toJSONSchema(Sprint, { io: 'input' }).properties ?? {})
  const settings = written.flatMap((page) =>
    [...read(page).matchAll(/^```yaml\n(.*?)^```$/gms)]
      .map(([, text = '']) => text)
      .filter((text) => !text.startsWith('# docs/examples'))
      .map((text) => ({ page, text, value: z.record(z.string(), z.unknown()).safeParse(parse(text)).data }))
      .filter(({ value }) => value !== undefined && Object.keys(value).every((key) => fields.includes(key))),
  )

  it('are many', () => {
    expect(settings.length).toBeGreaterThan(10)
  })

  it.each(settings.map(({ page, text }) => [page, text.split('\n', 1)[0] ?? '', text]))(
    '%s: the YAML that starts with "%s" compiles',
    (page, _first, text) => {
      const start = /^workflow:/m.test(text) ? '' : 'workflow: ralph\n'
      const goal = /^goal:/m.test(text) ? '' : 'goal: g\n'
      const isPhased = /^(?:retry|parallel-execution|collections|prompts):/m.test(text)
      const own = [...text.matchAll(/(?:command|acp):[^'",\]\n]+/g)].map(([name]) => name)
      const { diagnostics } = compile({
        sprint: { file: page, text: `${start}${goal}${text}` },
        readWorkflow: (name) => ({ file: name, text: isPhased ? phased : read('assets/workflows/ralph.yaml') }),
        defaultSprintId: 'example',
        at: 0,
        agents: new Map([...drivers.keys(), ...own].map((name) => [name, { slashCommands: name === 'claude' }])),
      })
      expect(diagnostics).toEqual([])
    },
  )
})

describe('a fact', () => {
  it('has one table: no three rows are in two tables', () => {
    const tables = written.flatMap((page) => tablesIn(read(page)).map((rows) => ({ page, rows: new Set(rows) })))
    const twice = tables.flatMap((one, index) =>
      tables
        .slice(index + 1)
        .map((other) => ({
          pages: `${one.page} and ${other.page}`,
          same: [...one.rows].filter((row) => other.rows.has(row)),
        }))
        .filter(({ same }) => same.length >= 3),
    )
    expect(twice).toEqual([])
  })

  it('is found if it is written twice', () => {
    const table = '| a | b |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |\n| 5 | 6 |\n'
    expect(tablesIn(`${table}\ntext\n\n${table.replace('| 3 |', '|  3  |')}`)).toEqual([
      ['1|2', '3|4', '5|6'],
      ['1|2', '3|4', '5|6'],
    ])
  })
})

describe('before and after', () => {
  const plainText = (text: string) =>
    text
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .replaceAll(/[`*_"]/g, '')
      .replaceAll(/\s+/g, ' ')
      .toLowerCase()
  const sentences = 'docs/contribute/sentences.md'

  it('shows 80 sentences, each as a page has it now', () => {
    const rows = tablesIn(read(sentences))[1] ?? []
    const now = rows.map((row) => row.split('|')[1] ?? '').filter((text) => !text.startsWith('('))
    const texts = pages.filter((page) => page !== sentences).map((page) => plainText(read(page)))
    expect(rows.length).toBeGreaterThanOrEqual(80)
    expect(now.filter((text) => !texts.some((page) => page.includes(plainText(text).replace(/\.$/, ''))))).toEqual([])
  })
})

describe('the prose check', () => {
  it('finds nothing in these pages', () => {
    const examined = pages.map((path) => {
      const text = read(path)
      return { path, generated: isGenerated(path, text), ...examinePage(path, text) }
    })
    expect([...examined.flatMap(({ problems }) => problems), ...summarize(examined).problems]).toEqual([])
  })

  it.each([
    ['An earlier session is gone on with in two cases.', '"gone on"'],
    ['The check begins anew.', '"anew"'],
    ['Both is told.', '"is told"'],
    ['Whoever waits has no say.', '"Whoever"'],
    [`It ${'and it '.repeat(25)}ends.`, '52 words in a sentence'],
    [`| a |\n| --- |\n| ${'x'.repeat(limits.cell + 1)} |`, `cell of ${limits.cell + 1} characters`],
  ])('refuses %j', (text, rule) => {
    expect(examinePage('docs/x.md', text).problems.map((problem) => problem.rule)).toContain(rule)
  })

  it('refuses a page that is passive, hard to read or too long', () => {
    const passive = examinePage('docs/x.md', 'The file is written by Ralph. '.repeat(12))
    expect(passive.problems.map(({ rule }) => rule)).toEqual(['passive'])
    const hard = examinePage(
      'docs/x.md',
      `Institutional considerations necessitate comprehensive documentation. `.repeat(12),
    )
    expect(hard.problems.map(({ rule }) => rule)).toEqual(['reading grade'])
    const long = { path: 'docs/x.md', generated: false, ...examinePage('docs/x.md', 'You run the loop. '.repeat(7000)) }
    expect(summarize([long]).problems.map(({ rule }) => rule)).toEqual(['words'])
  })

  it('leaves code and links alone', () => {
    const text =
      'See [it](https://example.com/goes-on).\n\n```sh\nanew\n```\n\n    nobody\n\nRun `whoever` twice, please.'
    expect(examinePage('docs/x.md', text).problems).toEqual([])
  })
})

/** Rows of each table, without the header and blanks. */
function tablesIn(text: string): string[][] {
  return [...text.matchAll(/(?:^\|.*\n)+/gm)].map(([table]) =>
    table
      .trimEnd()
      .split('\n')
      .slice(2)
      .map((row) =>
        row
          .split('|')
          .slice(1, -1)
          .map((cell) => cell.trim())
          .join('|'),
      ),
  )
}

/** Lines of shell blocks, continued lines joined. */
function shellLines(text: string): string[] {
  return [...text.matchAll(/^```sh.*\n([\s\S]*?)^```$/gm)].flatMap(([, block = '']) =>
    block.replaceAll(/\\\n\s*/g, ' ').split('\n'),
  )
}

function markdownIn(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.md'))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
}
