import { isErrorDiagnostic } from '../../compiler/parse/diagnostics.ts'
import type { Progress } from '../../contract/progress.ts'
import { encodeShownProgress } from '../../storage/state/shown-progress.ts'
import { progressPath } from '../../storage/state/sprint-folder.ts'
import { defineCommand } from '../io/command.ts'
import { compileSprint, printDiagnostics } from '../sprint/compile-sprint.ts'
import type { Io } from '../io/io.ts'
import { findSprint } from '../sprint/find-sprint.ts'
import { compilePlan } from '../sprint/compile-plan.ts'
import { createFreshFolder } from '../sprint/new-sprint.ts'
import { displayPath } from '../io/display-path.ts'
import { importLines } from '../sprint/import-lines.ts'
import { openSprint } from '../../host/open-sprint.ts'

export const compileCommand = defineCommand({
  name: 'compile',
  summary: 'Check SPRINT.yaml and its workflow, and write PROGRESS.yaml',
  arguments: ['[sprint]'],
  options: {
    workflows: {
      type: 'string',
      short: 'w',
      value: 'DIR',
      description: 'folder with workflows; default: .claude/workflows of the project',
    },
    strict: { type: 'boolean', description: 'treat unknown template variables as errors' },
    'dry-run': { type: 'boolean', description: 'check only, write nothing' },
    fresh: { type: 'boolean', description: 'start over in a new folder beside this one, which is left unchanged' },
    json: { type: 'boolean', description: 'print {valid, diagnostics, …} as JSON; with --dry-run also the progress' },
  },
  details:
    'A sprint that has already run keeps its history: changes in SPRINT.yaml update its configuration, and the command lists them.',
  examples: ['ralph compile', 'ralph compile auth --dry-run --json', 'ralph compile auth --fresh'],
  async run({ values, positionals: [sprintArgument] }, io) {
    const { sprintDir: opened } = await findSprint(sprintArgument, io)
    if (values['dry-run'] === true) return checkSprint(opened, values, io)
    const sprintDir = values.fresh === true ? await createFreshFolder(opened) : opened
    const { diagnostics, plan } = await compilePlan({ sprintDir, ...values }, io)
    if (values.json !== true) printDiagnostics(diagnostics, io)
    if (!plan) {
      if (values.json === true) io.print(JSON.stringify({ valid: false, diagnostics }))
      return 1
    }
    const { store, progress, changes, imported } = await openSprint({ sprintDir, compiled: plan.compiled, now: io.now })
    await store.close()
    const folder = displayPath(sprintDir, io)
    if (values.json === true) io.print(JSON.stringify({ valid: true, diagnostics, folder, changes, imported }))
    else if (imported) for (const line of importLines(imported, io)) io.print(line)
    else for (const line of describeCompiled(sprintDir, { progress, changes }, io)) io.print(line)
    return 0
  },
})

async function checkSprint(
  sprintDir: string,
  values: { readonly workflows?: string; readonly strict?: boolean; readonly json?: boolean },
  io: Io,
): Promise<number> {
  const { progress, diagnostics } = await compileSprint(sprintDir, values, io)
  const valid = !diagnostics.some(isErrorDiagnostic)
  if (values.json !== true) printDiagnostics(diagnostics, io)
  else io.print(JSON.stringify({ valid, diagnostics, progress: progress ? encodeShownProgress(progress) : null }))
  return valid ? 0 : 1
}

type CompiledState = { readonly progress: Progress; readonly changes: readonly string[] }

function describeCompiled(sprintDir: string, { progress, changes }: CompiledState, io: Io): string[] {
  const file = displayPath(progressPath(sprintDir), io)
  if (progress.status === 'not-started') return [`${file} written: ${progress.mode} mode, ${progress.sprintId}`]
  if (changes.length === 0)
    return [`${file} is unchanged: the sprint has already run (${progress.status}), and SPRINT.yaml has no changes`]
  return [`${file} keeps its history (${progress.status}); changes:`, ...changes.map((change) => `  ${change}`)]
}
