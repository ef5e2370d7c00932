import { basename, extname, join, resolve } from 'node:path'
import { RalphError } from '../../contract/errors.ts'
import { exists, readTextIfThere, makeFolder, writeNewFile } from '../../platform/files.ts'
import { defaultSprintId, makeSprintFolder } from '../../storage/sprint-folder.ts'
import { assetPath } from '../assets.ts'
import { command } from '../command.ts'
import { shownPath } from '../compile-sprint.ts'
import type { Io } from '../io.ts'
import { importPlan } from '../import-plan.ts'
import { newSprintYaml, slug, type GivenSprint } from '../sprint-files.ts'

export const init = command({
  name: 'init',
  summary: 'Make a sprint folder with a commented SPRINT.yaml',
  arguments: ['[name]'],
  options: {
    goal: { type: 'string', value: 'TEXT', description: 'what is to be reached' },
    from: {
      type: 'string',
      value: 'FILE',
      description: 'take goal and steps from prd.json, a plan with checkboxes, or a prompt',
    },
    agent: { type: 'string', value: 'NAME', description: 'agent program, e.g. claude' },
    'write-workflow': {
      type: 'boolean',
      description: 'also write the bundled ralph workflow to .claude/workflows, to change it',
    },
    json: { type: 'boolean', description: 'print {folder} as JSON' },
  },
  details: 'The folder is .claude/sprints/<date>_<name>. Nothing that is there is overwritten.',
  examples: [
    'ralph init auth --goal "Build JWT authentication"',
    'ralph init --from prd.json',
    'ralph init --write-workflow',
  ],
  async run({ values, positionals: [name] }, io) {
    if (name !== undefined && !/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(name)) {
      throw new RalphError('USAGE', `init: "${name}" cannot be the name of a folder`, {
        hint: 'use letters, digits, ".", "_" and "-"',
      })
    }
    const given = await givenSprint(values, io)
    const folder = await newSprint({ ...given, name: name ?? slug(given.name), agent: values.agent }, io)
    const shown = shownPath(folder, io)
    if (values['write-workflow'] === true) await writeWorkflow(io)
    if (values.json === true) io.print(JSON.stringify({ folder: shown }))
    else io.print(`${shown}/SPRINT.yaml written\nedit it, then: ralph run ${shown}`)
    return 0
  },
})

const placeholder = 'Describe what is to be reached.\nSuccess criteria:\n- what must be true at the end\n'

async function givenSprint({ goal, from }: { readonly goal?: string; readonly from?: string }, io: Io) {
  if (from === undefined) return { name: goal ?? '', goal: goal ?? placeholder }
  const text = await readTextIfThere(resolve(io.cwd, from))
  if (text === undefined) throw new RalphError('FILE_NOT_FOUND', 'there is no such file', { place: { file: from } })
  const imported = importPlan(from, text)
  return { name: goal ?? basename(from, extname(from)), goal: goal ?? imported.goal, steps: imported.steps }
}

/** Makes `.claude/sprints/<date>_<name>` in the current project. */
export async function newSprint({ name, ...given }: GivenSprint & { readonly name: string }, io: Io): Promise<string> {
  const sprints = resolve(io.cwd, '.claude', 'sprints')
  const folder = join(sprints, defaultSprintId(name, io.now()))
  await makeSprintFolder(folder, newSprintYaml(given))
  return folder
}

async function writeWorkflow(io: Io): Promise<void> {
  const folder = join(io.cwd, '.claude', 'workflows')
  const file = join(folder, 'ralph.yaml')
  if (exists(file)) {
    throw new RalphError('SPRINT_EXISTS', 'the workflow is there already', { place: { file: shownPath(file, io) } })
  }
  await makeFolder(folder)
  await writeNewFile(file, (await readTextIfThere(assetPath('workflows/ralph.yaml'))) ?? '')
  io.print(`${shownPath(file, io)} written`)
}
