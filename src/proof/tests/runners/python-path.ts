import type { EnvironmentChange, ReporterPlace } from '../form/test-runner.ts'

export const addPythonPath = ({ folder }: ReporterPlace): EnvironmentChange => ({
  name: 'PYTHONPATH',
  text: `${folder}/python`,
  separator: ':',
  side: 'start',
})
