import type { Driver } from '../../agents/drivers/driver.ts'
import { getDriver, drivers } from '../../agents/drivers/registry.ts'
import { programNotFound } from '../../agents/supervise/supervisor.ts'
import { RalphError } from '../../contract/errors.ts'
import { findProgram } from '../../platform/processes/programs.ts'
import type { Io } from '../io/io.ts'

/**
 * Resolves the agents of a run. The first one must be installed; fallbacks that are not installed are reported and
 * dropped.
 */
export function chooseAgents(
  requested: readonly string[] | undefined,
  io: Io,
): { readonly drivers: [Driver, ...Driver[]]; readonly missing: string[] } {
  const [name, ...fallbacks] = requested ?? []
  const first = name === undefined ? firstInstalled(io) : requireInstalledDriver(name, io)
  const others = fallbacks.map((fallback) => getDriver(fallback))
  return {
    drivers: [first, ...others.filter((driver) => isInstalled(driver, io))],
    missing: others.filter((driver) => !isInstalled(driver, io)).map((driver) => driver.name),
  }
}

/** Finds the driver of that name and checks that its program is installed. */
export function requireInstalledDriver(name: string, io: Io): Driver {
  const driver = getDriver(name)
  if (!isInstalled(driver, io)) throw programNotFound(driver)
  return driver
}

function firstInstalled(io: Io): Driver {
  const found = installedAgents(io)[0]
  if (found) return found
  throw new RalphError('AGENT_NOT_FOUND', 'no agent program is on PATH', {
    hint: `install one of ${realDrivers()
      .map(({ name }) => name)
      .join(', ')}; "ralph demo" runs without one`,
  })
}

export const installedAgents = (io: Io): Driver[] => realDrivers().filter((driver) => isInstalled(driver, io))

/** Every driver except the scripted one, which ships with Ralph for demos and tests. */
export const realDrivers = (): Driver[] => [...drivers.values()].filter(({ name }) => name !== 'scripted')

const isInstalled = (driver: Driver, io: Io): boolean =>
  findProgram(driver.program, io.env['PATH'] ?? '', io.cwd) !== undefined
