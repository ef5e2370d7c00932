import { join, resolve } from 'node:path'
import { isErrorDiagnostic } from '../../compiler/parse/diagnostics.ts'
import { validateWorkflow } from '../../compiler/validate.ts'
import { RalphError } from '../../contract/errors.ts'
import { readTextIfExists } from '../../platform/files/files.ts'
import { defineCommand } from '../io/command.ts'
import { compileInputs, printDiagnostics } from '../sprint/compile-sprint.ts'

export const validate = defineCommand({
  name: 'validate',
  summary: 'Check a workflow file',
  arguments: ['<workflow.yaml>'],
  options: {
    strict: { type: 'boolean', description: 'treat unknown template variables as errors' },
    json: { type: 'boolean', description: 'print {valid, errors, warnings} as JSON' },
  },
  examples: ['ralph validate .claude/workflows/release.yaml'],
  async run({ values, positionals: [fileArgument = ''] }, io) {
    const file = resolve(io.cwd, fileArgument)
    const text = await readTextIfExists(file)
    if (text === undefined) {
      throw new RalphError('FILE_NOT_FOUND', 'file not found', { place: { file: fileArgument } })
    }
    const { diagnostics } = validateWorkflow(
      { file: fileArgument, text },
      { ...compileInputs(join(file, '..'), io), strict: values.strict === true },
    )
    const valid = !diagnostics.some(isErrorDiagnostic)
    if (values.json === true) {
      const errors = diagnostics.filter(isErrorDiagnostic)
      io.print(JSON.stringify({ valid, errors, warnings: diagnostics.filter((found) => !isErrorDiagnostic(found)) }))
    } else {
      printDiagnostics(diagnostics, io)
      if (valid) io.print(`${fileArgument} is valid`)
    }
    return valid ? 0 : 1
  },
})
