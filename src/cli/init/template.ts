import { RalphError } from '../../contract/errors.ts'
import { nearest } from '../../contract/nearest.ts'
import { listFolder, readTextIfThere } from '../../platform/files/files.ts'
import { assetPath } from '../assets.ts'
import { scalar, schemaLine, type GivenSprint } from '../sprint/sprint-files.ts'

export type Template = {
  readonly name: string
  /** The template's description, from its second line. */
  readonly summary: string
  readonly text: string
}

/** Commented SPRINT.yaml files for common tasks, by name. */
export async function templates(): Promise<Template[]> {
  const names = (await listFolder(assetPath('templates'))).map((file) => file.replace(/\.yaml$/, '')).toSorted()
  return Promise.all(
    names.map(async (name) => {
      const text = (await readTextIfThere(assetPath(`templates/${name}.yaml`))) ?? ''
      return { name, summary: (text.split('\n')[1] ?? '').replace(/^# /, ''), text }
    }),
  )
}

export async function templateNamed(name: string): Promise<Template> {
  const known = await templates()
  const found = known.find((template) => template.name === name)
  if (found) return found
  const names = known.map((template) => template.name)
  const meant = nearest(name, names)
  throw new RalphError('USAGE', `init: unknown template "${name}"`, {
    hint:
      meant === undefined ? `templates: ${names.join(', ')}` : `did you mean ${meant}? Templates: ${names.join(', ')}`,
  })
}

type Given = Omit<GivenSprint, 'goal'> & {
  /** Absent: the placeholder stays for the user to replace. */
  readonly goal?: string | undefined
}

/** Fills a template with the given values. Works on lines, so that every comment stays in place. */
export function fillTemplate(text: string, { goal, steps = [], agent, checks, limits = {} }: Given): string {
  const filled = [
    (yaml: string) => yaml.replace(/^.*\n/, () => `${schemaLine()}\n`),
    (yaml: string) => (goal === undefined ? yaml : yaml.replace(/^ {2}<.*>$/m, () => indented(goal))),
    (yaml: string) => (steps.length === 0 ? yaml : withSteps(yaml, steps)),
    (yaml: string) => withChecks(yaml, checks),
    (yaml: string) => (agent === undefined ? yaml : yaml.replace(/^# agent: .*$/m, () => `agent: ${scalar(agent)}`)),
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
  const list = `steps:\n${steps.map((step) => `  - ${scalar(step)}\n`).join('')}`
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
    (checks ?? []).map((run) => `  - run: ${scalar(run)}\n${more}`).join(''),
  )
  const isEmpty = !/^done-when:\n(?: {2}#.*\n)* {2}-/m.test(replaced)
  if (!isEmpty) return replaced
  return replaced.replace(/^done-when:\n/m, checks ? 'done-when: []\n' : '# done-when:\n#   - run: make check\n')
}
