import { runCaptured } from '../../platform/processes/captured-process.ts'
import type { Enclosure } from './enclosure.ts'

/** For machines without namespaces: nothing keeps the command from anything but its folder and its environment. */
export const plainEnclosure = (reason: string): Enclosure => ({
  kind: 'plain',
  reason,
  run: ({ argv, cwd, env, timeoutMs, signal }) => runCaptured({ argv, cwd, env, timeoutMs, signal }),
})
