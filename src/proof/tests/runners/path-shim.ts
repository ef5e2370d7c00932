import type { EnvironmentChange, ReporterPlace } from '../form/test-runner.ts'

/** For programs that take the place of their report only as an argument: assets/reporters/path holds one of the same name. */
export const putBeforePath = ({ folder }: ReporterPlace): EnvironmentChange => ({
  name: 'PATH',
  text: `${folder}/path`,
  separator: ':',
  side: 'start',
})
