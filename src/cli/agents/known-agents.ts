import type { Driver } from '../../agents/drivers/driver.ts'
import { drivers, families, findDriver } from '../../agents/drivers/registry.ts'
import type { KnownAgent, KnownAgents } from '../../compiler/resolve/compilation.ts'

/** Every agent that SPRINT.yaml may name: the built-in drivers, and any program as `acp:…` or `command:…`. */
export const knownAgents: KnownAgents = {
  has: (name) => named(name) !== undefined,
  get: (name) => {
    const driver = named(name)
    return driver && toKnown(driver)
  },
  keys: () => [...drivers.keys(), ...families].values(),
  values: () => [...drivers.values()].map(toKnown).values(),
}

/** Rejects a bare `command:` and a command with an unclosed quote. */
function named(name: string): Driver | undefined {
  try {
    const driver = findDriver(name)
    return driver?.program === '' ? undefined : driver
  } catch {
    return undefined
  }
}

const toKnown = ({ models, slashCommands }: Driver): KnownAgent => ({
  slashCommands: slashCommands === true,
  ...(models && { models }),
})
