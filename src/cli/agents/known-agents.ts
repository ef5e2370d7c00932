import type { Driver } from '../../agents/drivers/driver.ts'
import { drivers, agentPatterns, findDriver } from '../../agents/drivers/registry.ts'
import type { KnownAgent, KnownAgents } from '../../compiler/resolve/compilation.ts'

/** Every agent that SPRINT.yaml may name: the built-in drivers, and any program as `acp:…` or `command:…`. */
export const knownAgents: KnownAgents = {
  has: (name) => findDriverSafely(name) !== undefined,
  get: (name) => {
    const driver = findDriverSafely(name)
    return driver && toKnownAgent(driver)
  },
  keys: () => [...drivers.keys(), ...agentPatterns].values(),
  values: () => [...drivers.values()].map(toKnownAgent).values(),
}

/** Rejects a bare `command:` and a command with an unclosed quote. */
function findDriverSafely(name: string): Driver | undefined {
  try {
    const driver = findDriver(name)
    return driver?.program === '' ? undefined : driver
  } catch {
    return undefined
  }
}

const toKnownAgent = ({ models, slashCommands }: Driver): KnownAgent => ({
  slashCommands: slashCommands === true,
  ...(models && { models }),
})
