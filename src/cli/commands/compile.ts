import { isError } from '../../compiler/diagnostics.ts'
import { progressPath } from '../../storage/progress-file.ts'
import { openSprintStore } from '../../storage/sprint-store.ts'
import { hideState, openSprintFolder } from '../../storage/sprint-folder.ts'
import { command } from '../command.ts'
import { compileSprint, printDiagnostics, shownPath } from '../compile-sprint.ts'
import { fold } from '../sprint-state.ts'

export const compileCommand = command({
  name: 'compile',
  summary: 'Check SPRINT.yaml and its workflow, write PROGRESS.yaml',
  arguments: ['<sprint-dir>'],
  options: {
    workflows: {
      type: 'string',
      short: 'w',
      value: 'DIR',
      description: 'where workflows are; default .claude/workflows of the project',
    },
    strict: { type: 'boolean', description: 'unknown template variables are errors' },
    'dry-run': { type: 'boolean', description: 'check only, write nothing' },
    json: { type: 'boolean', description: 'print {valid, diagnostics} as JSON' },
  },
  details: 'A sprint that has run keeps its progress: only one that has not started is compiled again.',
  examples: ['ralph compile .claude/sprints/2026-11-15_auth', 'ralph compile s --dry-run --json'],
  async run({ values, positionals: [given = ''] }, io) {
    const sprintDir = openSprintFolder(given)
    const { progress, diagnostics } = await compileSprint(sprintDir, values, io)
    const valid = !diagnostics.some(isError)
    if (values.json === true) io.print(JSON.stringify({ valid, diagnostics }))
    else printDiagnostics(diagnostics, io)
    if (!progress) return 1
    if (values['dry-run'] === true) return 0
    const file = shownPath(progressPath(sprintDir), io)
    await hideState(sprintDir)
    const opened = await openSprintStore({ sprintDir, fold, now: io.now }, async (known) =>
      known && known.status !== 'not-started' ? known : progress,
    )
    await opened?.store.close()
    if (opened && opened.progress !== progress) {
      if (values.json !== true) io.print(`${file} is kept: the sprint has run (${opened.progress.status})`)
      return 0
    }
    if (values.json !== true) io.print(`${file} written: ${progress.mode} mode, ${progress.sprintId}`)
    return 0
  },
})
