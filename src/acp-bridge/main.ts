import { text } from 'node:stream/consumers'
import { bridge } from './bridge.ts'
import { parseOptions } from './options.ts'
import { wireLog } from './wire-log.ts'

/** Makes an agent that speaks the Agent Client Protocol a program like any other: prompt on stdin, what happens on stdout. */
async function main(): Promise<number> {
  const stop = new AbortController()
  for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => stop.abort())
  const options = parseOptions(process.argv.slice(2))
  const log = wireLog((line) => process.stdout.write(line), performance.now.bind(performance))
  return await bridge(options, await text(process.stdin), log, stop.signal)
}

process.exit(await main())
