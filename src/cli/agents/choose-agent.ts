import type { Driver } from '../../agents/drivers/driver.ts'
import { driverNamed, drivers } from '../../agents/drivers/registry.ts'
import { notFound } from '../../agents/supervise/supervisor.ts'
import { RalphError } from '../../contract/errors.ts'
import { findProgram } from '../../platform/processes/programs.ts'
import type { Io } from '../io/io.ts'

/** The agents of a run: the first one asked for must be installed, fallbacks that are not are left out and named. */
export function chooseAgents(
  asked: readonly string[] | undefined,
  io: Io,
): { readonly drivers: [Driver, ...Driver[]]; readonly missing: string[] } {
  const [name, ...fallbacks] = asked ?? []
  const first = name === undefined ? firstInstalled(io) : driverOf(name, io)
  const others = fallbacks.map((fallback) => driverNamed(fallback))
  return {
    drivers: [first, ...others.filter((driver) => isInstalled(driver, io))],
    missing: others.filter((driver) => !isInstalled(driver, io)).map((driver) => driver.name),
  }
}

/** The driver of that name, whose program must be installed. */
export function driverOf(name: string, io: Io): Driver {
  const driver = driverNamed(name)
  if (!isInstalled(driver, io)) throw notFound(driver)
  return driver
}

function firstInstalled(io: Io): Driver {
  const found = installedAgents(io)[0]
  if (found) return found
  throw new RalphError('AGENT_NOT_FOUND', 'no agent program is on PATH', {
    hint: `install one of ${realDrivers()
      .map(({ name }) => name)
      .join(', ')}; "ralph demo" needs none`,
  })
}

export const installedAgents = (io: Io): Driver[] => realDrivers().filter((driver) => isInstalled(driver, io))

/** All but the one for demos and tests, which is part of ralph. */
export const realDrivers = (): Driver[] => [...drivers.values()].filter(({ name }) => name !== 'scripted')

const isInstalled = (driver: Driver, io: Io): boolean =>
  findProgram(driver.program, io.env['PATH'] ?? '', io.cwd) !== undefined
