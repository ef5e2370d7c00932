import { setTimeout as sleep } from 'node:timers/promises'
import { RalphError } from '../contract/errors.ts'
import { installVersion, type InstallOptions } from './install.ts'

export type Updates = {
  readonly install: (version: string) => Promise<void>
  /** Called after the reply to the update is stored. */
  readonly answered: (isWaiting: () => boolean) => Promise<void>
  /** Resolves with the installed version. */
  readonly done: Promise<string>
}

const pollIntervalMs = 50
const replyTimeoutMs = 2000

/** One update per process: afterwards it can only restart. */
export function createUpdates(how: InstallOptions): Updates {
  const own: { installed?: string; finish?: (version: string) => void } = {}
  const done = new Promise<string>((resolve) => (own.finish = resolve))
  return {
    done,
    install: async (version) => {
      if (own.installed === version) return
      if (own.installed !== undefined) throw interruptedUpdateError(`ralph ${own.installed} has just been installed`)
      await installVersion(version, how)
      own.installed = version
    },
    answered: async (isWaiting) => {
      if (own.installed === undefined) return
      // The reply is sent now if possible, otherwise by the next start.
      const until = performance.now() + replyTimeoutMs
      while (isWaiting() && performance.now() < until) await sleep(pollIntervalMs)
      own.finish?.(own.installed)
    },
  }
}

/** The request has expired, and another install may have happened since. */
export const interruptedUpdateError = (why: string): RalphError =>
  new RalphError('MACHINE_REFUSED', `${why}; check which version runs there, and try again`)
