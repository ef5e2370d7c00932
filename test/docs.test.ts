import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { drivers } from '../src/agents/drivers/registry.ts'
import { exitCodeRows, exitCodes, formatExitCodes } from '../src/cli/io/exit-code.ts'
import type { Source } from '../src/compiler/parse/diagnostics.ts'
import { compile } from '../src/compiler/compile.ts'
import { Progress } from '../src/contract/progress.ts'
import { Sprint } from '../src/contract/sprint.ts'
import { Workflow } from '../src/contract/workflow.ts'
import { ralphProgram, root } from './support/paths.ts'

const pages = [...readdirSync(root), ...filesBelow('docs')].filter((file) => file.endsWith('.md'))
/** What a user writes in ralph mode. */
const groups = ['ralph', 'limits', 'timeouts', 'env', 'config']
const examples = filesBelow('docs/examples').filter((file) => basename(file) === 'SPRINT.yaml')

describe('the examples', () => {
  it('exist', () => {
    expect(examples.length).toBeGreaterThan(3)
  })

  it.each(examples)('%s compiles without a diagnostic', (file) => {
    const { progress, diagnostics } = compile({
      sprint: { file, text: read(file) },
      readWorkflow: (name) =>
        source(join(dirname(file), 'workflows', `${name}.yaml`)) ?? source(`assets/workflows/${name}.yaml`),
      defaultSprintId: 'example',
      at: 0,
      agents: new Map([...drivers.keys()].map((name) => [name, { slashCommands: name === 'claude' }])),
    })
    expect({ diagnostics, status: progress?.status }).toEqual({ diagnostics: [], status: 'not-started' })
  })

  it('are in the guide unchanged', () => {
    const quoted = pages.flatMap((page) => [...read(page).matchAll(/^```yaml\n# (docs\/examples\/\S+)\n(.*?)^```$/gms)])
    expect(quoted.length).toBeGreaterThan(1)
    expect(quoted.map(([, file, text]) => ({ file, text }))).toEqual(
      quoted.map(([, file = '']) => ({ file, text: read(file) })),
    )
  })
})

describe('the pages', () => {
  it.each(pages)('%s has no broken link', (page) => {
    const links = [...read(page).matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map(([, link = '']) => link)
    expect(links.filter((link) => !linkResolves(page, link))).toEqual([])
  })

  it('AGENTS.md is short enough to read', () => {
    expect(read('AGENTS.md').split('\n').length).toBeLessThanOrEqual(150)
  })

  it.each([
    { file: 'SPRINT.yaml', page: 'docs/reference/sprint-yaml.md', schema: Sprint, groups },
    { file: 'a workflow', page: 'docs/reference/workflow.md', schema: Workflow, groups },
    { file: 'PROGRESS.yaml', page: 'docs/reference/progress-yaml.md', schema: Progress, groups: ['ralph'] },
  ])('$page names every field of $file', (of) => {
    const words = new Set(read(of.page).match(/[a-z]+(?:-[a-z]+)*/g))
    expect(listFields(of.schema, of.groups).filter((field) => !words.has(field))).toEqual([])
  })
})

describe('the command line', () => {
  const page = read('docs/reference/cli.md')
  const documented = [...page.matchAll(/^\| \[`ralph ([a-z-]+)`\]/gm)].map(([, name = '']) => name)

  it('has the commands of the table, and no others', async () => {
    const commands = [...(await ralph('--help')).matchAll(/^ {2}([a-z-]+) {2,}\S/gm)].map(([, name = '']) => name)
    expect(commands.toSorted()).toEqual(documented.toSorted())
  })

  it.each(documented)('documents every option of %s', async (name) => {
    const options = [...(await ralph(name, '--help')).matchAll(/^ {2}(?:-.,| {3}) (--[a-z-]+)/gm)].map(
      ([, flag]) => flag,
    )
    const [, section = ''] = new RegExp(`^## ${name}\\n(.*?)(?=^## )`, 'ms').exec(page) ?? []
    expect(options.filter((flag = '') => !section.includes(flag))).toEqual(['--help'])
  })
})

describe('exit codes', () => {
  /** The cells of each row below a heading. */
  const readTable = (page: string, heading: RegExp) => {
    const [, table = ''] = new RegExp(`^${heading.source}\\n\\|[ |-]+\\n((?:\\|.*\\n)+)`, 'm').exec(read(page)) ?? []
    return table
      .trim()
      .split('\n')
      .map((line) =>
        line
          .split('|')
          .slice(1, -1)
          .map((cell) => cell.trim()),
      )
  }
  const codes: readonly string[] = exitCodeRows.map(({ code }) => String(code))

  it('are the same in help, the reference, the action and the first sprint', async () => {
    expect((await ralph('--help')).replaceAll(/\s+/g, ' ')).toContain(`Exit codes: ${formatExitCodes()}.`)
    expect(readTable('docs/reference/cli.md', /\| code \|.*/)).toEqual(
      exitCodeRows.map(({ code, meaning }) => [String(code), meaning]),
    )
    expect(read('action.yml')).toContain(`  exit-code:\n    description: ${formatExitCodes()}\n`)
    expect(readTable('docs/start/first-sprint.md', /\| exit code \|.*/).map(([code]) => code)).toEqual(codes)
  })

  it('are those of each status in docs/concepts/state.md', () => {
    const documented = readTable('docs/concepts/state.md', /\| status .*\| exit code \|/).flatMap(
      ([names = '', , code]) => [...names.matchAll(/`([a-z-]+)`/g)].map(([, status]) => ({ status, code })),
    )
    // A run never ends with these.
    const unused = ['not-started', 'in-progress', 'parked']
    expect(documented.toSorted(byStatus)).toEqual(
      Object.entries(exitCodes)
        .map(([status, code]) => ({ status, code: unused.includes(status) ? '' : String(code) }))
        .toSorted(byStatus),
    )
  })
})

const byStatus = (a: { status: string | undefined }, b: { status: string | undefined }) =>
  (a.status ?? '').localeCompare(b.status ?? '')

/** The field names of a file, and of some of its groups. */
function listFields(schema: z.ZodType, within: readonly string[]): string[] {
  const Fields = z.object({ properties: z.record(z.string(), z.unknown()) })
  const fields = (value: unknown) => Object.entries(Fields.safeParse(value).data?.properties ?? {})
  return fields(z.toJSONSchema(schema, { io: 'input' })).flatMap(([name, field]) => [
    name,
    ...(within.includes(name) ? fields(field).map(([inner]) => inner) : []),
  ])
}

function linkResolves(page: string, link: string): boolean {
  const [path = '', anchor] = link.split('#')
  const target = path === '' ? page : join(dirname(page), path)
  if (!existsSync(join(root, target))) return false
  return anchor === undefined || listHeadings(target).includes(anchor)
}

/** The anchor that GitHub creates for a heading. */
const listHeadings = (page: string): string[] =>
  [...read(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, '')
      .trim()
      .replaceAll(' ', '-'),
  )

async function ralph(...args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [ralphProgram, ...args])
  return stdout
}

function filesBelow(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
}

const read = (file: string): string => readFileSync(join(root, file), 'utf8')

const source = (file: string): Source | undefined =>
  existsSync(join(root, file)) ? { file, text: read(file) } : undefined
