import { RalphError } from '../../contract/errors.ts'
import { findNearestWord } from '../../contract/text.ts'
import { listFolder, readTextIfExists } from '../../platform/files/files.ts'
import { assetPath } from '../io/assets.ts'
import { yamlScalar, schemaLine, type SprintInputs } from '../sprint/sprint-files.ts'

export type SprintTemplate = {
  readonly name: string
  /** The template's description, from its second line. */
  readonly summary: string
  readonly text: string
}

/** Commented SPRINT.yaml files for common tasks, by name. */
export async function listSprintTemplates(): Promise<SprintTemplate[]> {
  const names = (await listFolder(assetPath('templates'))).map((file) => file.replace(/\.yaml$/, '')).toSorted()
  return Promise.all(
    names.map(async (name) => {
      const text = (await readTextIfExists(assetPath(`templates/${name}.yaml`))) ?? ''
      return { name, summary: (text.split('\n')[1] ?? '').replace(/^# /, ''), text }
    }),
  )
}

export async function findTemplate(name: string): Promise<SprintTemplate> {
  const known = await listSprintTemplates()
  const found = known.find((template) => template.name === name)
  if (found) return found
  const names = known.map((template) => template.name)
  const suggestion = findNearestWord(name, names)
  throw new RalphError('USAGE', `init: unknown template "${name}"`, {
    hint:
      suggestion === undefined
        ? `templates: ${names.join(', ')}`
        : `did you mean ${suggestion}? Templates: ${names.join(', ')}`,
  })
}

type TemplateValues = Omit<SprintInputs, 'goal'> & {
  /** Absent: the placeholder stays for the user to replace. */
  readonly goal?: string | undefined
}

/** Fills a template with the given values. Works on lines, so that every comment stays in place. */
export function fillSprintTemplate(
  text: string,
  { goal, steps = [], agent, checks, limits = {} }: TemplateValues,
): string {
  const filled = [
    (yaml: string) => yaml.replace(/^.*\n/, () => `${schemaLine()}\n`),
    (yaml: string) => (goal === undefined ? yaml : yaml.replace(/^ {2}<.*>$/m, () => indented(goal))),
    (yaml: string) => (steps.length === 0 ? yaml : withSteps(yaml, steps)),
    (yaml: string) => withChecks(yaml, checks),
    (yaml: string) =>
      agent === undefined ? yaml : yaml.replace(/^# agent: .*$/m, () => `agent: ${yamlScalar(agent)}`),
    (yaml: string) =>
      Object.entries(limits).reduce(
        (lines, [name, value]) =>
          value === undefined ? lines : lines.replace(new RegExp(`^( {2}${name}:) .*$`, 'm'), `$1 ${value}`),
        yaml,
      ),
  ]
  return filled.reduce((yaml, fill) => fill(yaml), text)
}

const indented = (text: string): string =>
  text
    .trim()
    .split('\n')
    .map((line) => `  ${line}`.trimEnd())
    .join('\n')

/** Steps of an imported plan replace those of the template. */
function withSteps(yaml: string, steps: readonly string[]): string {
  const list = `steps:\n${steps.map((step) => `  - ${yamlScalar(step)}\n`).join('')}`
  const own = /^steps:\n(?: .*\n)+/m
  return own.test(yaml) ? yaml.replace(own, () => list) : yaml.replace(/^done-when:/m, (found) => `${list}\n${found}`)
}

/**
 * Replaces `npm test` in a template by the project's test command and keeps its other fields. If the project has no
 * test command and the template no other check, the checks are detected when the sprint starts, unless the user
 * disabled them.
 */
function withChecks(yaml: string, checks: readonly string[] | undefined): string {
  const replaced = yaml.replace(/^ {2}- run: npm test\n((?: {4}.*\n)*)/m, (_, more: string) =>
    (checks ?? []).map((run) => `  - run: ${yamlScalar(run)}\n${more}`).join(''),
  )
  const isEmpty = !/^done-when:\n(?: {2}#.*\n)* {2}-/m.test(replaced)
  if (!isEmpty) return replaced
  return replaced.replace(/^done-when:\n/m, checks ? 'done-when: []\n' : '# done-when:\n#   - run: make check\n')
}
