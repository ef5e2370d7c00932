import { join } from 'node:path'
import type { CompileInput } from '../../compiler/resolve/compilation.ts'
import { compile } from '../../compiler/compile.ts'
import { formatDiagnostic, isErrorDiagnostic, type Diagnostic, type Source } from '../../compiler/parse/diagnostics.ts'
import { formatPlace } from '../../contract/errors.ts'
import type { Progress } from '../../contract/progress.ts'
import { readTextSyncIfExists } from '../../platform/files/files.ts'
import { defaultSprintId, findProject, readSprintFile } from '../../storage/state/sprint-folder.ts'
import { assetPath } from '../io/assets.ts'
import type { Io } from '../io/io.ts'
import { knownAgents } from '../agents/known-agents.ts'
import { toOneLine } from '../../words/text.ts'
import { ralphHome } from '../../platform/ralph-home.ts'
import { displayPath } from '../io/display-path.ts'

export type CompiledSprint = { readonly progress?: Progress; readonly diagnostics: readonly Diagnostic[] }

type CompileOptions = {
  readonly workflows?: string | undefined
  readonly strict?: boolean | undefined
  /** Compiled as if it were the SPRINT.yaml of the folder, which need not exist. */
  readonly text?: string | undefined
}

/** Compiles the SPRINT.yaml of a folder with the workflows of its project; bundled workflows come last. */
export async function compileSprint(sprintDir: string, options: CompileOptions, io: Io): Promise<CompiledSprint> {
  const shown = displayPath(sprintDir, io)
  const text = options.text ?? (await readSprintFile(sprintDir, shown))
  const folder = options.workflows ?? join(findProject(sprintDir, io.cwd), '.claude', 'workflows')
  const config = readSource(join(ralphHome(io), 'config.yaml'), io)
  return compile({
    sprint: { file: join(shown, 'SPRINT.yaml'), text },
    ...compileInputs(folder, io),
    defaultSprintId: defaultSprintId(sprintDir, io.now()),
    at: io.now(),
    ...(config && { userConfig: config }),
    strict: options.strict === true,
  })
}

/** Where workflows come from, and the known agents. */
export const compileInputs = (
  workflows: string,
  io: Io,
): Pick<CompileInput, 'readWorkflow' | 'agents' | 'notHonoured'> => ({
  readWorkflow: (name) =>
    readSource(join(workflows, `${name}.yaml`), io) ??
    readSource(join(workflows, `${name}.yml`), io) ??
    readSource(assetPath(`workflows/${name}.yaml`), io),
  agents: knownAgents,
})

/** Prints the diagnostics, one line each; on a terminal with the source. True if none is an error. */
export function printDiagnostics(diagnostics: readonly Diagnostic[], io: Io): boolean {
  for (const diagnostic of diagnostics)
    io.printError(io.canRedraw ? formatDiagnostic(diagnostic, { color: io.useColor }) : diagnosticLine(diagnostic))
  return !diagnostics.some(isErrorDiagnostic)
}

export function diagnosticLine({ place, severity, code, message, hint }: Diagnostic): string {
  const what = toOneLine(hint === undefined ? message : `${message} (${hint})`)
  return `${place ? `${toOneLine(formatPlace(place))}  ` : ''}${severity} ${code}  ${what}`
}

function readSource(path: string, io: Io): Source | undefined {
  const text = readTextSyncIfExists(path)
  return text === undefined ? undefined : { file: displayPath(path, io), text }
}
