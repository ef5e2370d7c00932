import { z } from 'zod'
import { RalphError, errorMessage, firstErrorLine } from '../../contract/errors.ts'
import { readStepStatus } from '../../storage/seed/step-status.ts'
import { isSeedProgress } from '../../storage/seed/seed-progress.ts'
import { parseYaml } from '../../storage/state/parse-yaml.ts'

/** What `ralph init --from` takes from a file: the goal and the steps that are not done. */
export type ImportedPlan = {
  readonly goal: string
  readonly steps: readonly string[]
  /** Fields of SPRINT.yaml that the file also has. */
  readonly settings?: ImportedSettings
  /** A PROGRESS.yaml of another program, whose history the first run imports. */
  readonly progressYaml?: string
}

export type ImportedSettings = {
  readonly ralph?: Readonly<Record<string, unknown>>
  readonly 'per-iteration-hooks'?: unknown
}

/** `prd.json` of snarktank/ralph and ralph-tui: stories with criteria, done when they pass. */
const Prd = z.looseObject({
  project: z.string().optional(),
  name: z.string().optional(),
  description: z.string().optional(),
  userStories: z.array(
    z.looseObject({
      id: z.union([z.string(), z.number()]).optional(),
      title: z.string(),
      description: z.string().optional(),
      acceptanceCriteria: z.array(z.string()).optional(),
      priority: z.number().optional(),
      passes: z.boolean().optional(),
    }),
  ),
})

/**
 * Imports a file of another tool by its name: `*.json` is a PRD, `*.yaml` a PROGRESS.yaml or SPRINT.yaml, Markdown with
 * checkboxes a plan, any other text a prompt.
 */
export function importPlan(file: string, text: string): ImportedPlan {
  if (text.trim() === '') throw importError(file, 'it is empty')
  if (file.toLowerCase().endsWith('.json')) return importPrd(file, text)
  if (/\.ya?ml$/i.test(file)) return importYaml(file, text)
  return importChecklist(text) ?? { goal: text.trim(), steps: [] }
}

function importPrd(file: string, text: string): ImportedPlan {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw importError(file, errorMessage(error))
  }
  const parsed = Prd.safeParse(value)
  if (!parsed.success) {
    throw importError(file, describeFirstIssue(parsed.error))
  }
  const { project, name, description, userStories } = parsed.data
  const open = userStories
    .filter((story) => story.passes !== true)
    .toSorted((a, b) => (a.priority ?? Infinity) - (b.priority ?? Infinity))
  const stories = userStories.map(({ title }) => `- ${title}`).join('\n')
  const heading = [project ?? name, description].filter((part) => part !== undefined).join('\n\n')
  return {
    goal: `${heading === '' ? 'Implement all stories' : heading}\n\nStories:\n${stories}`,
    steps: open.map(({ title, description: more, acceptanceCriteria = [] }) =>
      [title, more, ...acceptanceCriteria.map((criterion) => `- ${criterion}`)]
        .filter((part) => part !== undefined)
        .join('\n'),
    ),
  }
}

/** The fields of PROGRESS.yaml and SPRINT.yaml that a new sprint can take over. */
const PlanYaml = z.looseObject({
  goal: z.string().trim().min(1),
  steps: z.array(z.union([z.string(), z.looseObject({ prompt: z.string() })])).optional(),
  'dynamic-steps': z.array(z.looseObject({ prompt: z.string(), status: z.string().optional() })).optional(),
  ralph: z.looseObject({}).optional(),
  'per-iteration-hooks': z.union([z.array(z.looseObject({})).min(1), z.record(z.string(), z.unknown())]).optional(),
})

function importYaml(file: string, text: string): ImportedPlan {
  let value: unknown
  try {
    value = parseYaml(text)
  } catch (error) {
    throw importError(file, firstErrorLine(error))
  }
  const parsed = PlanYaml.safeParse(value)
  if (!parsed.success) throw importError(file, describeYamlIssue(value, parsed.error))
  const { goal, steps = [], 'dynamic-steps': planned = [] } = parsed.data
  const settings = pickSettings(parsed.data)
  if (isSeedProgress(value)) return { goal, ...settings, steps: [], progressYaml: text }
  const open = planned.filter(({ status }) => readStepStatus(status) === 'pending').map(({ prompt }) => prompt)
  return {
    goal,
    ...settings,
    steps: [...open, ...steps.map((step) => (typeof step === 'string' ? step : step.prompt))],
  }
}

function describeYamlIssue(value: unknown, error: z.ZodError): string {
  const hasGoal = typeof value === 'object' && value !== null && 'goal' in value
  return hasGoal
    ? describeFirstIssue(error)
    : 'it has no goal; sprints with phases are migrated in place by: ralph migrate'
}

function pickSettings({ ralph = {}, 'per-iteration-hooks': hooks }: z.output<typeof PlanYaml>) {
  const { 'idle-threshold': idle, 'min-iterations': min } = ralph
  const numbers = {
    ...(idle !== undefined && { 'idle-threshold': idle }),
    ...(min !== undefined && { 'min-iterations': min }),
  }
  const settings: ImportedSettings = {
    ...(Object.keys(numbers).length > 0 && { ralph: numbers }),
    ...(hooks !== undefined && { 'per-iteration-hooks': hooks }),
  }
  return Object.keys(settings).length === 0 ? {} : { settings }
}

const checkbox = /^(\s*)[-*+]\s+\[([ xX])\]\s+(.*)$/

/** Open checkboxes become steps, with their indented lines; checked ones are dropped; all other lines are the goal. */
function importChecklist(text: string): ImportedPlan | undefined {
  const lines = text.split(/\r?\n/)
  if (!lines.some((line) => checkbox.test(line))) return undefined
  const goal: string[] = []
  const steps: string[] = []
  let open: { readonly indent: number; readonly lines: string[] } | undefined
  let isStep = false
  for (const line of lines) {
    const [, blanks = '', mark, title = ''] = checkbox.exec(line) ?? []
    const indent = /^\s*/.exec(line)?.[0].length ?? 0
    if (open && line.trim() !== '' && indent > open.indent) {
      open.lines.push(line.trim())
      continue
    }
    if (open && isStep) steps.push(open.lines.join('\n'))
    open = mark === undefined ? undefined : { indent: blanks.length, lines: [title.trim()] }
    isStep = mark === ' '
    if (mark === undefined) goal.push(line)
  }
  if (open && isStep) steps.push(open.lines.join('\n'))
  const rest = goal
    .join('\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim()
  return { goal: rest === '' ? 'Do every step of the plan' : rest, steps }
}

const describeFirstIssue = ({ issues: [issue] }: z.ZodError): string =>
  issue === undefined ? 'it is not a plan' : [issue.path.join('.'), issue.message].filter(Boolean).join(': ')

const importError = (file: string, reason: string): RalphError =>
  new RalphError('FILE_UNREADABLE', `cannot be imported: ${reason}`, {
    place: { file },
    hint: 'PROGRESS.yaml or SPRINT.yaml with a goal, prd.json with userStories, a Markdown plan with checkboxes, or a prompt as text',
  })
