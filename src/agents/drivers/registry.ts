import { RalphError } from '../../contract/errors.ts'
import { nearest } from '../../contract/nearest.ts'
import { acp, acpPresets } from './acp.ts'
import { claude } from './claude.ts'
import { codex } from './codex.ts'
import { command } from './command.ts'
import type { Driver } from './driver.ts'
import { gemini } from './gemini.ts'
import { opencode } from './opencode.ts'
import { scripted } from './scripted.ts'

/** The agents that have a name of their own, in the order in which one is chosen if none was asked for. */
export const drivers: ReadonlyMap<string, Driver> = new Map(
  [claude, codex, gemini, opencode, ...acpPresets, scripted].map((driver) => [driver.name, driver]),
)

/** The ways to name any other program: `acp:my-agent --flag`, `command:./my-agent --flag`. */
const drivenBy: Readonly<Record<string, (agent: string) => Driver>> = { acp, command }

/** How they are named where all names are listed. */
export const families: readonly string[] = Object.keys(drivenBy).map((way) => `${way}:<program>`)

export function findDriver(name: string): Driver | undefined {
  const driver = drivers.get(name)
  if (driver) return driver
  const [, way = '', agent = ''] = /^([a-z]+)(?:: *(.*))?$/s.exec(name) ?? []
  return Object.hasOwn(drivenBy, way) ? drivenBy[way]?.(agent) : undefined
}

/** Throws AGENT_UNKNOWN for a name that no driver has. */
export function driverNamed(name: string): Driver {
  const driver = findDriver(name)
  if (driver) return driver
  const names = [...drivers.keys()]
  const meant = nearest(name, names)
  throw new RalphError('AGENT_UNKNOWN', `there is no agent "${name}"${meant ? `; did you mean "${meant}"?` : ''}`, {
    hint: `known agents: ${names.join(', ')}; any other program: ${families.join(' or ')}`,
  })
}
