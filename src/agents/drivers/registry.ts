import { RalphError } from '../../contract/errors.ts'
import { findNearestWord } from '../../contract/text.ts'
import { acpDriver, acpPresets } from './acp.ts'
import { claude } from './claude.ts'
import { codex } from './codex.ts'
import { commandDriver } from './command.ts'
import type { Driver } from './driver.ts'
import { gemini } from './gemini.ts'
import { opencode } from './opencode.ts'
import { scripted } from './scripted.ts'

/** Agents with a name of their own, in the order of preference if the user chose none. */
export const drivers: ReadonlyMap<string, Driver> = new Map(
  [claude, codex, gemini, opencode, ...acpPresets, scripted].map((driver) => [driver.name, driver]),
)

/** Prefixes for any other program: `acp:my-agent --flag`, `command:./my-agent --flag`. */
const driverFactories: Readonly<Record<string, (agent: string) => Driver>> = { acp: acpDriver, command: commandDriver }

/** How lists of agents show them. */
export const agentPatterns: readonly string[] = Object.keys(driverFactories).map((way) => `${way}:<program>`)

export function findDriver(name: string): Driver | undefined {
  const driver = drivers.get(name)
  if (driver) return driver
  const [, way = '', agent = ''] = /^([a-z]+)(?:: *(.*))?$/s.exec(name) ?? []
  return Object.hasOwn(driverFactories, way) ? driverFactories[way]?.(agent) : undefined
}

/** Throws AGENT_UNKNOWN if no driver has this name. */
export function getDriver(name: string): Driver {
  const driver = findDriver(name)
  if (driver) return driver
  const names = [...drivers.keys()]
  const suggestion = findNearestWord(name, names)
  throw new RalphError(
    'AGENT_UNKNOWN',
    `there is no agent "${name}"${suggestion ? `; did you mean "${suggestion}"?` : ''}`,
    {
      hint: `known agents: ${names.join(', ')}; any other program: ${agentPatterns.join(' or ')}`,
    },
  )
}
