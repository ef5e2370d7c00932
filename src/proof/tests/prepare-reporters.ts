import { quoteShellWord } from '../../contract/text.ts'
import { join } from 'node:path'
import type { TestResult } from '../../contract/tests.ts'
import { listTree, readTextIfExists } from '../../platform/files/files.ts'
import { createFolder } from '../../platform/files/files.ts'
import { writeProgram, writeText } from '../../platform/files/text-files.ts'
import { testRunners } from './registry.ts'
import type { EnvironmentChange, ReporterPlace, TestRunner } from './form/test-runner.ts'

export type ReporterRequest = {
  /** A fresh folder that the check can write to. Ralph reads it after the last process of the check has ended. */
  readonly outputFolder: string
  /** The folder assets/reporters of the package. */
  readonly assets: string
  /** The environment that the check would run with. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Names of runners whose reporters to switch on; absent: all of them, since a command may call any program. */
  readonly runners?: readonly string[]
  /** Run only these tests again. A runner that cannot choose runs all of its tests. */
  readonly only?: readonly TestResult[]
}

export type PreparedReporters = {
  /** Variables to set for the check, in place of those in `env`. */
  readonly env: Readonly<Record<string, string>>
  /** Files to write, by their absolute path. */
  readonly files: readonly ReporterFile[]
}

export type ReporterFile = { readonly path: string; readonly text: string; readonly isProgram: boolean }

/** Variables and files that make any command leave reports in `outputFolder`. Changes nothing in the project. */
export async function prepareReporters(request: ReporterRequest): Promise<PreparedReporters> {
  const folder = join(request.outputFolder, 'reporters')
  // An error outside of tests has no name to run it by.
  const only = request.only?.some(({ outside }) => outside) ? undefined : request.only
  const place = { folder, reports: reportsFolder(request.outputFolder), ...(only && { only }) }
  const chosen = chooseRunners(request.runners)
  const additions = combineChanges(
    chosen.flatMap(({ reporter }) => reporter?.environment(place) ?? []),
    request.env,
  )
  const texts = {
    'environment.json': JSON.stringify(Object.fromEntries(additions.map(({ name, added }) => [name, added]))),
    'clear-environment.sh': additions.map(clearInShell).join(''),
    ...ownFiles(chosen, place),
  }
  const programs = await readAssets(request.assets)
  return {
    env: Object.fromEntries(additions.map(({ name, value }) => [name, value])),
    files: [...programs, ...Object.entries(texts).map(([name, text]) => ({ name, text }))].map(({ name, text }) => ({
      path: join(folder, name),
      text,
      isProgram: text.startsWith('#!'),
    })),
  }
}

/** A PYTHONPATH that the command itself sets would hide the reporters of Python. */
export function keepReporters(command: string, outputFolder: string): string {
  const path = join(outputFolder, 'reporters/python')
  return command.replaceAll(
    /(^|[\s;&|(])PYTHONPATH=(["']?)(?=[^\s"';&|])/g,
    (_, before: string, quote: string, at: number) => {
      const word = quote === '' && /[^\w/.:@%+=,-]/.test(path) ? quoteShellWord(path) : escapeInQuotes(path, quote)
      // In `sh -c '…'` two shells read it.
      return `${before}PYTHONPATH=${quote}${escapeInQuotes(word, openQuote(command.slice(0, at)))}:`
    },
  )
}

/** The quote that is still open at the end of a part of a shell command. */
const openQuote = (part: string): string =>
  /["']/.exec(part.replaceAll(/\\[^]|'[^']*'|"(?:\\[^]|[^"\\])*"|(?<=^|\s)#.*/g, ''))?.[0] ?? ''

function escapeInQuotes(text: string, quote: string): string {
  if (quote === '"') return text.replaceAll(/["\\$`]/g, String.raw`\$&`)
  return quote === "'" ? text.replaceAll("'", `'\\''`) : text
}

/** Writes the files of `prepareReporters`, and the empty folder for reports. */
export async function writeReporters({ files }: PreparedReporters, outputFolder: string): Promise<void> {
  for (const { path, text, isProgram } of files) await (isProgram ? writeProgram : writeText)(path, text)
  await createFolder(reportsFolder(outputFolder))
}

export const reportsFolder = (outputFolder: string): string => join(outputFolder, 'reports')

const chooseRunners = (names: readonly string[] | undefined): TestRunner[] =>
  [...testRunners.values()].filter(({ name }) => names === undefined || names.includes(name))

function ownFiles(chosen: readonly TestRunner[], place: ReporterPlace): Record<string, string> {
  const files = chosen.map(({ reporter, select }) => ({
    ...reporter?.files?.(place),
    ...(place.only && select?.(place.only)),
  }))
  return Object.assign({}, ...files)
}

/** `added` is exactly what `value` has more than before, so that it can be taken out again. */
type Addition = { readonly name: string; readonly added: string; readonly value: string }

function combineChanges(changes: readonly EnvironmentChange[], env: ReporterRequest['env']): Addition[] {
  const names = [...new Set(changes.map(({ name }) => name))]
  return names.flatMap((name) => {
    const same = changes.filter((change) => change.name === name)
    const [first] = same
    const value = env[name] ?? ''
    if (!first || (value !== '' && (first.separator === undefined || first.unless?.test(value)))) return []
    const text = [...new Set(same.map((change) => change.text))].join(first.separator ?? ' ')
    const gap = value !== '' || first.keepSeparator ? (first.separator ?? '') : ''
    const added = first.side === 'start' ? `${text}${gap}` : `${gap}${text}`
    return [{ name, added, value: first.side === 'start' ? `${added}${value}` : `${value}${added}` }]
  })
}

function clearInShell({ name, added }: Addition): string {
  const quoted = quoteShellWord(added)
  return `added=${quoted}
case "$${name}" in
*"$added"*)
  ${name}="\${${name}%%"$added"*}\${${name}#*"$added"}"
  [ -n "$${name}" ] || unset ${name}
  ;;
esac
`
}

async function readAssets(folder: string): Promise<{ name: string; text: string }[]> {
  const names = await listTree(folder)
  const read = names.map(async (name) => ({ name, text: (await readTextIfExists(join(folder, name))) ?? '' }))
  return Promise.all(read)
}
