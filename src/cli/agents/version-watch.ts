import type { Driver } from '../../agents/drivers/driver.ts'
import { readAgentVersion, versionWarning } from '../../agents/supervise/inspect.ts'
import type { SprintEvent } from '../../contract/events.ts'
import { createInspector } from './inspector.ts'
import type { Io } from '../io/io.ts'

/**
 * Forwards events and warns once per agent if its version is untested. Most agents print their version; for the others
 * Ralph runs one short version command beside the first attempt.
 */
export function watchVersions(
  drivers: readonly [Driver, ...Driver[]],
  show: (event: SprintEvent) => void,
  io: Io,
): { readonly observe: (event: SprintEvent) => void; readonly stop: () => void } {
  const [first] = drivers
  const stopped = new AbortController()
  const judged = new Set<string>()
  let working: Driver = first

  const judge = (driver: Driver, version: string) => {
    const text = judged.has(driver.name) ? undefined : versionWarning(driver, version)
    judged.add(driver.name)
    if (text !== undefined && !stopped.signal.aborted) show({ type: 'note', level: 'warning', text })
  }
  if (first.about && !first.about.reportsVersion) {
    void readAgentVersion(first, createInspector(first, io, stopped.signal)).then(
      (version) => version && judge(first, version),
    )
  }
  return {
    observe: (event) => {
      show(event)
      if (event.type === 'attempt-started') working = drivers.find(({ name }) => name === event.agent) ?? working
      if (event.type === 'agent' && event.event.kind === 'session' && event.event.version !== undefined)
        judge(working, event.event.version)
    },
    stop: () => stopped.abort(),
  }
}
