import { text } from 'node:stream/consumers'
import { bridge } from './bridge.ts'
import { parseBridgeOptions } from './options.ts'
import { createWireLog } from './wire-log.ts'

/** Wraps an agent that speaks the Agent Client Protocol as an ordinary program: prompt on stdin, messages on stdout. */
async function runBridge(): Promise<number> {
  const stop = new AbortController()
  for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => stop.abort())
  const options = parseBridgeOptions(process.argv.slice(2))
  const log = createWireLog((line) => process.stdout.write(line), performance.now.bind(performance))
  return await bridge(options, await text(process.stdin), log, stop.signal)
}

process.exit(await runBridge())
