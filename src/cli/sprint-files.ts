import { stringify } from 'yaml'
import { schemaPath } from './assets.ts'

export type GivenSprint = {
  readonly goal: string
  readonly steps?: readonly string[] | undefined
  readonly agent?: string | undefined
}

/** A new SPRINT.yaml: what was given, and what could be given, in comments. Its first line lets editors complete and check it. */
export function newSprintYaml({ goal, steps = [], agent }: GivenSprint): string {
  const fields = {
    workflow: 'ralph',
    goal,
    ...(steps.length > 0 && { steps }),
    ...(agent !== undefined && { agent }),
  }
  return `# yaml-language-server: $schema=${schemaPath('sprint.schema.json')}
${stringify(fields, { lineWidth: 0 }).trimEnd()}

# Checks that Ralph runs itself before it believes that the goal is reached. Left out: they are detected (npm test, pytest …).
# done-when:
#   - run: npm test
#     name: unit tests

# Which agent program works on it, and with which model. Left out: the first one that is installed.
# agent: claude
# model: opus

# Where it stops.
# limits: { iterations: 40, usd: 10, duration: 2h }

# When it reflects, and how long it must think.
# ralph: { idle-threshold: 3, min-iterations: 0 }

# Tasks after every iteration, in the background (parallel: true) or before the next one.
# per-iteration-hooks:
#   - { id: lint, run: npm run lint, parallel: false, on-fail: feed-back }
`
}

/** A folder name from a goal: its first words. */
export function slug(goal: string): string {
  const words = goal
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
  return words.slice(0, 40).replace(/-+$/, '') || 'sprint'
}
