import { parseDocument, stringify } from 'yaml'
import { packageVersion } from '../io/assets.ts'
import type { ImportedSettings } from './import-plan.ts'

export type LimitInputs = {
  readonly iterations?: string | undefined
  readonly usd?: string | undefined
  readonly duration?: string | undefined
}

export type SprintInputs = {
  readonly goal: string
  readonly steps?: readonly string[] | undefined
  readonly agent?: string | undefined
  /** Commands; an empty list disables detection. */
  readonly checks?: readonly string[] | undefined
  /** As written by the user; a value may be "off". */
  readonly limits?: LimitInputs | undefined
  /** Gives the sprint its own git worktree. */
  readonly worktree?: boolean | undefined
  /** Of the file that the sprint comes from. */
  readonly settings?: ImportedSettings | undefined
}

/** The limits of a goal that a user starts without writing a SPRINT.yaml, unless flags set others. */
export const defaultGoalLimits = { iterations: '50', usd: '20' } as const

/** Lets editors complete and validate the file, on every machine: SPRINT.yaml may be committed. */
export const schemaLine = (): string =>
  `# yaml-language-server: $schema=https://unpkg.com/ralph-mode@${packageVersion()}/schemas/sprint.schema.json`

/** A new SPRINT.yaml: the given values, and the other options as comments. */
export function renderSprintYaml(inputs: SprintInputs): string {
  const { goal, steps = [], agent, checks, limits, worktree, settings = {} } = inputs
  const fields = {
    workflow: 'ralph',
    goal,
    ...(steps.length > 0 && { steps }),
    // Kept until its branch is merged, so that diff, finish and the checks have its files.
    ...(worktree === true && { worktree: { enabled: true, cleanup: 'on-merge' } }),
  }
  return `${schemaLine()}
${stringify(fields, { lineWidth: 0 }).trimEnd()}

# Checks that Ralph runs itself before it accepts that the goal is reached. Omit to detect them (npm test, pytest …).
${checks ? doneWhenLines(checks) : '# done-when:\n#   - run: npm test\n#     name: unit tests'}

# Agent program and model. Omit to use the first one installed.
${agent === undefined ? '# agent: claude' : `agent: ${yamlScalar(agent)}`}
# model: opus

# Limits of the whole sprint; "off" for none. Flags of "ralph run" hold for one run.
${limitLines(limits) ?? '# limits: { iterations: 40, usd: 10, duration: 2h }'}

# Reflection threshold and minimum number of iterations.
${fieldLines({ ralph: settings.ralph }) ?? '# ralph: { idle-threshold: 3, min-iterations: 0 }'}

# Tasks after every iteration, in the background (parallel: true) or before the next one.
${fieldLines({ 'per-iteration-hooks': settings['per-iteration-hooks'] }) ?? hookExample}
`
}

const hookExample = '# per-iteration-hooks:\n#   - { id: lint, run: npm run lint, parallel: false, on-fail: feed-back }'

const fieldLines = (field: Readonly<Record<string, unknown>>): string | undefined =>
  Object.values(field).some((value) => value !== undefined) ? stringify(field, { lineWidth: 0 }).trimEnd() : undefined

/** Formats a text as a YAML scalar. */
export const yamlScalar = (text: string): string => stringify(text, { lineWidth: 0 }).trimEnd()

const doneWhenLines = (checks: readonly string[]): string =>
  checks.length === 0
    ? 'done-when: []'
    : ['done-when:', ...checks.map((run) => `  - run: ${yamlScalar(run)}`)].join('\n')

function limitLines(limits: LimitInputs = {}): string | undefined {
  const chosen = Object.entries(limits).filter(([, value]) => value !== undefined)
  return chosen.length === 0
    ? undefined
    : ['limits:', ...chosen.map(([name, value]) => `  ${name}: ${value}`)].join('\n')
}

/** A goal that `ralph init` wrote for the user to replace. */
export const placeholderGoal =
  'Describe what the agent should achieve.\nSuccess criteria:\n- what must be true at the end\n'

/** True for the placeholder of `ralph init`, for a template whose `<…>` line is still there, and for `TODO` or `…`. */
export const isPlaceholderGoal = (goal: string): boolean =>
  /^(?:(?:todo|tbd|fixme)[.…?!]*|[.…?!]+)$/i.test(goal.trim()) ||
  /^Describe what (?:the agent should achieve|is to be reached)\./.test(goal.trim()) ||
  /^\s*<[^<>\n]+>\s*$/m.test(goal)

/** Letters that Unicode does not decompose into a base letter. */
const transliterations: Readonly<Record<string, string>> = {
  ä: 'ae',
  ö: 'oe',
  ü: 'ue',
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  å: 'a',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
}

const maxSlugLength = 40

/** Derives a folder name from the first words of a goal: `Grüße an alle` becomes `gruesse-an-alle`; `中文` and `だけ` stay. */
export function slugFromGoal(goal: string): string {
  const words = goal
    .normalize('NFC')
    .toLowerCase()
    .replaceAll(/\p{L}/gu, (letter) => transliterations[letter] ?? letter)
    .normalize('NFKD')
    .replaceAll(/(?<=\p{Script=Latin})\p{M}+/gu, '')
    .normalize('NFC')
    .match(/[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu)
  return joinWords(words ?? []) || 'sprint'
}

/** As many whole words as fit; a first word that is too long is cut. */
function joinWords(words: readonly string[]): string {
  let slug = ''
  for (const word of words) {
    const longer = slug === '' ? word : `${slug}-${word}`
    if (longer.length > maxSlugLength) break
    slug = longer
  }
  return slug === ''
    ? Array.from(words[0] ?? '')
        .slice(0, maxSlugLength)
        .join('')
    : slug
}

/** The same SPRINT.yaml with another goal and without first steps; comments stay. */
export function replaceGoal(text: string, goal: string): string {
  const document = parseDocument(text)
  document.set('goal', goal)
  document.delete('steps')
  document.delete('sprint-id')
  return document.toString({ lineWidth: 0 })
}
