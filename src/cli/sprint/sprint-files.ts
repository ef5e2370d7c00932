import { stringify } from 'yaml'
import { schemaPath } from '../io/assets.ts'

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
}

/** Lets editors complete and validate the file. */
export const schemaLine = (): string => `# yaml-language-server: $schema=${schemaPath('sprint.schema.json')}`

/** A new SPRINT.yaml: the given values, and the other options as comments. */
export function renderSprintYaml({ goal, steps = [], agent, checks, limits }: SprintInputs): string {
  const fields = { workflow: 'ralph', goal, ...(steps.length > 0 && { steps }) }
  return `${schemaLine()}
${stringify(fields, { lineWidth: 0 }).trimEnd()}

# Checks that Ralph runs itself before it accepts that the goal is reached. Omit to detect them (npm test, pytest …).
${checks ? doneWhenLines(checks) : '# done-when:\n#   - run: npm test\n#     name: unit tests'}

# Agent program and model. Omit to use the first one installed.
${agent === undefined ? '# agent: claude' : `agent: ${yamlScalar(agent)}`}
# model: opus

# Limits of the whole sprint.
${limitLines(limits) ?? '# limits: { iterations: 40, usd: 10, duration: 2h }'}

# Reflection threshold and minimum number of iterations.
# ralph: { idle-threshold: 3, min-iterations: 0 }

# Tasks after every iteration, in the background (parallel: true) or before the next one.
# per-iteration-hooks:
#   - { id: lint, run: npm run lint, parallel: false, on-fail: feed-back }
`
}

/** Formats a text as a YAML scalar. */
export const yamlScalar = (text: string): string => stringify(text, { lineWidth: 0 }).trimEnd()

const doneWhenLines = (checks: readonly string[]): string =>
  checks.length === 0
    ? 'done-when: []'
    : ['done-when:', ...checks.map((run) => `  - run: ${yamlScalar(run)}`)].join('\n')

function limitLines(limits: LimitInputs = {}): string | undefined {
  const given = Object.entries(limits).filter(([, value]) => value !== undefined)
  return given.length === 0 ? undefined : ['limits:', ...given.map(([name, value]) => `  ${name}: ${value}`)].join('\n')
}

/** Derives a folder name from the first words of a goal. */
export function slugFromGoal(goal: string): string {
  const words = goal
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
  return words.slice(0, 40).replace(/-+$/, '') || 'sprint'
}
