import { setTimeout as sleep } from 'node:timers/promises'
import { RalphError } from '../contract/errors.ts'
import { install, type Installing } from './install.ts'

export type Updates = {
  readonly install: (version: string) => Promise<void>
  /** After the answer to the update was kept. */
  readonly answered: (isWaiting: () => boolean) => Promise<void>
  /** Resolves with the version that was installed. */
  readonly done: Promise<string>
}

const lookMs = 50
const patienceMs = 2000

/** One update of this process: after it there is nothing left but to start again. */
export function updatesOf(how: Installing): Updates {
  const own: { installed?: string; tell?: (version: string) => void } = {}
  const done = new Promise<string>((resolve) => (own.tell = resolve))
  return {
    done,
    install: async (version) => {
      if (own.installed === version) return
      if (own.installed !== undefined) throw interrupted(`ralph ${own.installed} was just installed`)
      await install(version, how)
      own.installed = version
    },
    answered: async (isWaiting) => {
      if (own.installed === undefined) return
      // Whoever has asked is told now if possible, and else by the next start.
      const until = performance.now() + patienceMs
      while (isWaiting() && performance.now() < until) await sleep(lookMs)
      own.tell?.(own.installed)
    },
  }
}

/** Nobody waits for it any more, and meanwhile somebody may have installed something else. */
export const interrupted = (why: string): RalphError =>
  new RalphError('MACHINE_REFUSED', `${why}; look which version runs there, and ask again`)
