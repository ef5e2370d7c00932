import type { EnvironmentChange, ReporterPlace } from '../form/test-runner.ts'

/** NODE_OPTIONS splits at spaces, except inside of double quotes, where a backslash escapes. */
const quoteNodeOption = (option: string): string => `"${option.replace(/["\\]/g, '\\$&')}"`

/** Loads the hook that all runners for Node share. */
export const loadHook = ({ folder }: ReporterPlace): EnvironmentChange => ({
  name: 'NODE_OPTIONS',
  text: `--require ${quoteNodeOption(`${folder}/node/hook.cjs`)}`,
  separator: ' ',
  side: 'start',
})
