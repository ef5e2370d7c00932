import { runCaptured } from '../../platform/processes/captured-process.ts'
import type { Confine } from './confine.ts'
import type { Enclosure, RoomMount } from './enclosure.ts'

/** For machines without overlays: the command runs in the cell of the sprint, or as the user where there is none. */
export const plainEnclosure = (reason: string, confine?: Confine): Enclosure => ({
  kind: 'plain',
  reason,
  run: ({ argv, cwd, env, timeoutMs, signal, mounts }) => {
    const job = { argv, cwd, env, timeoutMs, signal }
    return confine
      ? confine({ ...job, read: sources('ro-bind', mounts), write: sources('bind', mounts) })
      : runCaptured(job)
  },
})

const sources = (kind: 'bind' | 'ro-bind', mounts: readonly RoomMount[]): string[] =>
  mounts.flatMap((mount) => (mount.kind === kind ? [mount.from] : []))
