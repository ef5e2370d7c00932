import type { Driver } from '../agents/driver.ts'
import { driverNamed, drivers } from '../agents/registry.ts'
import { notFound } from '../agents/supervisor.ts'
import { RalphError } from '../contract/errors.ts'
import { findProgram } from '../platform/programs.ts'
import type { Io } from './io.ts'

/** The driver that was asked for, or the first one whose program is installed. */
export function chooseAgent(asked: string | undefined, io: Io): Driver {
  if (asked !== undefined) {
    const driver = driverNamed(asked)
    if (!isInstalled(driver, io)) throw notFound(driver)
    return driver
  }
  const found = installedAgents(io)[0]
  if (found) return found
  throw new RalphError('AGENT_NOT_FOUND', 'no agent program is on PATH', {
    hint: `install one of ${known()
      .map(({ name }) => name)
      .join(', ')}; "ralph demo" needs none`,
  })
}

export const installedAgents = (io: Io): Driver[] => known().filter((driver) => isInstalled(driver, io))

const known = (): Driver[] => [...drivers.values()].filter(({ name }) => name !== 'scripted')

const isInstalled = (driver: Driver, io: Io): boolean =>
  findProgram(driver.program, io.env['PATH'] ?? '', io.cwd) !== undefined
