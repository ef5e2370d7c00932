import { parse } from 'yaml'
import { z } from 'zod'
import { RalphError } from '../contract/errors.ts'
import { CompiledPhase, CompiledStep, DependencyNode, type DependencyGraph } from '../contract/phases.ts'
import { HookTask, IterationRecord, Progress, Step } from '../contract/progress.ts'
import { writeFileAtomic } from '../platform/atomic-file.ts'
import { readTextIfThere } from '../platform/files.ts'
import { progressPath } from './sprint-folder.ts'
import { yamlText } from './yaml-text.ts'

const header = '# Written by Ralph; what the fields mean: docs/guide/progress-yaml.md\n'

/** What PROGRESS.yaml says, or undefined if there is none. What cannot be read is an error, never an empty state. */
export async function readProgressFile(sprintDir: string): Promise<Progress | undefined> {
  const file = progressPath(sprintDir)
  const text = await readTextIfThere(file)
  return text === undefined ? undefined : parseProgress(text, file)
}

/** The `rev` that the file shows, if it looks as we write it. */
export async function shownRev(sprintDir: string): Promise<number | undefined> {
  const rev = revIn((await readTextIfThere(progressPath(sprintDir))) ?? '')
  return Number.isNaN(rev) ? undefined : rev
}

export const revIn = (text: string): number => Number(/^rev: (\d+)$/m.exec(text)?.[1])

export function parseProgress(text: string, file: string): Progress {
  const hint = 'restore the file, or move it away and compile the sprint again'
  let value: unknown
  try {
    value = parse(text, { maxAliasCount: 0 })
  } catch (cause) {
    const reason = cause instanceof Error ? (cause.message.split('\n')[0] ?? '') : ''
    throw new RalphError('PROGRESS_INVALID', `is not YAML: ${reason}`, { place: { file }, hint, cause })
  }
  const decoded = Progress.safeParse(value)
  if (decoded.success) return completedFirst(decoded.data)
  const problems = decoded.error.issues
    .slice(0, 3)
    .map(({ path, message }) => `${path.join('.') || 'file'}: ${message}`)
  throw new RalphError('PROGRESS_INVALID', problems.join('; '), { place: { file }, hint })
}

/** As the loop keeps them; somebody who writes the file by hand need not know that. */
function completedFirst(progress: Progress): Progress {
  const { dynamicSteps: steps } = progress
  const firstPending = steps.findIndex(isPending)
  if (firstPending === -1 || steps.findLastIndex(isCompleted) < firstPending) return progress
  return { ...progress, dynamicSteps: [...steps.filter(isCompleted), ...steps.filter(isPending)] }
}

const isCompleted = ({ status }: Step): boolean => status === 'completed'
const isPending = ({ status }: Step): boolean => status === 'pending'

export const writeProgressFile = (sprintDir: string, progress: Progress): Promise<void> =>
  writeFileAtomic(progressPath(sprintDir), formatProgress(progress))

/** The text of PROGRESS.yaml. What has not changed since the last time is not written anew: cost follows change, not size. */
export function formatProgress(progress: Progress): string {
  const { dynamicSteps, hookTasks, iterations, phases, dependencyGraph } = progress
  const lists = new Map([
    ['dynamic-steps', listText('dynamic-steps', dynamicSteps, textOf(Step))],
    ['hook-tasks', listText('hook-tasks', hookTasks, textOf(HookTask))],
    ['iterations', listText('iterations', iterations, textOf(IterationRecord))],
    ['phases', listText('phases', phases ?? [], phaseText)],
    ['dependency-graph', listText('dependency-graph', dependencyGraph ?? [], graphText)],
  ])
  const short = { ...(phases && { phases: [] }), ...(dependencyGraph && { dependencyGraph: [] }) }
  const rest = z.encode(Progress, { ...progress, ...short, dynamicSteps: [], hookTasks: [], iterations: [] })
  let text = header
  for (const [name, value] of Object.entries(rest)) text += lists.get(name) ?? yamlText({ [name]: value })
  return text
}

/** A phase can have thousands of items, of which one changes. */
const phaseText = ({ steps, ...phase }: CompiledPhase, indent: string): string => {
  const own = yamlText([z.encode(CompiledPhase, phase)], indent)
  return steps ? own + listText('steps', steps, textOf(CompiledStep), `${indent}  `) : own
}

const graphText = ({ phaseId, nodes }: DependencyGraph, indent: string): string =>
  yamlText([{ 'phase-id': phaseId }], indent) + listText('nodes', nodes, textOf(DependencyNode), `${indent}  `)

type Write<T> = (item: T, indent: string) => string

const textOf =
  <T>(schema: z.ZodType<T>): Write<T> =>
  (item, indent) =>
    yamlText([z.encode(schema, item)], indent)

/** Parts of the progress are never changed, only replaced, so that the text of one can be kept with it. */
const texts = new WeakMap<object, string>()

function listText<T extends object>(name: string, items: readonly T[], write: Write<T>, indent = ''): string {
  if (items.length === 0) return `${indent}${name}: []\n`
  let text = `${indent}${name}:\n`
  for (const item of items) {
    let known = texts.get(item)
    if (known === undefined) texts.set(item, (known = write(item, `${indent}  `)))
    text += known
  }
  return text
}
