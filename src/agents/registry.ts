import { RalphError } from '../contract/errors.ts'
import { claude } from './claude.ts'
import type { Driver } from './driver.ts'
import { nearest } from './nearest.ts'
import { scripted } from './scripted.ts'

export const drivers: ReadonlyMap<string, Driver> = new Map([claude, scripted].map((driver) => [driver.name, driver]))

/** Throws AGENT_UNKNOWN for a name that no driver has. */
export function driverNamed(name: string): Driver {
  const driver = drivers.get(name)
  if (driver) return driver
  const names = [...drivers.keys()]
  const meant = nearest(name, names)
  throw new RalphError('AGENT_UNKNOWN', `there is no agent "${name}"${meant ? `; did you mean "${meant}"?` : ''}`, {
    hint: `known agents: ${names.join(', ')}`,
  })
}
