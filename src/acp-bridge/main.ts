import { text } from 'node:stream/consumers'
import { bridge } from './bridge.ts'
import { parseOptions } from './options.ts'
import { wireLog } from './wire-log.ts'

/** Wraps an agent that speaks the Agent Client Protocol as an ordinary program: prompt on stdin, messages on stdout. */
async function main(): Promise<number> {
  const stop = new AbortController()
  for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => stop.abort())
  const options = parseOptions(process.argv.slice(2))
  const log = wireLog((line) => process.stdout.write(line), performance.now.bind(performance))
  return await bridge(options, await text(process.stdin), log, stop.signal)
}

process.exit(await main())
