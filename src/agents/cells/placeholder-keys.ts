import { join } from 'node:path'
import { RalphError } from '../../contract/errors.ts'
import { readTextIfExists, readTextSyncIfExists } from '../../platform/files/files.ts'
import { writeScratch } from '../../platform/files/scratch-files.ts'
import { listenOnLoopback } from '../../platform/net/loopback-server.ts'
import type { Driver } from '../drivers/driver.ts'
import type { Command } from './cell.ts'

export type HeldKeys = {
  /** The program with placeholders in place of its keys. */
  readonly command: Command
  /** Where the gateway listens on this machine. */
  readonly port: number
  readonly close: () => Promise<void>
}

/**
 * Takes the key of its model from a program and serves the model in its place. An attempt that is joined gets the same port and
 * placeholder again. Throws SANDBOX_UNAVAILABLE if the program cannot work so: it would hold the real key.
 */
export async function holdKeys(command: Command, driver: Driver, folder: string): Promise<HeldKeys> {
  const use = driver.keys?.(command.env, readTextSyncIfExists)
  const [variable] = use?.variables.filter((name) => command.env[name]) ?? []
  if (!use || variable === undefined) throw noPlaceholder(driver.name)
  const { createKeyGateway, createPlaceholder } = await import('./network/key-gateway.ts')
  const saved = join(folder, 'gateway.json')
  const before = parseSaved(await readTextIfExists(saved))
  const placeholder = before?.placeholder ?? createPlaceholder()
  const key = command.env[variable] ?? ''
  const server = createKeyGateway({ upstream: new URL(use.upstream), placeholder, key })
  const { port, close } = await listenOnLoopback(server, before?.port)
  if (!before) await writeScratch(saved, JSON.stringify({ port, placeholder }))
  const { env = {}, args = [] } = use.redirect(`http://127.0.0.1:${port}`)
  const [first, ...others] = command.args
  const words = args.length === 0 ? command.args : [...(first === undefined ? [] : [first]), ...args, ...others]
  const keys = Object.fromEntries(use.variables.flatMap((name) => (command.env[name] ? [[name, placeholder]] : [])))
  return { command: { ...command, args: words, env: { ...command.env, ...keys, ...env } }, port, close }
}

function parseSaved(text: string | undefined): { readonly port: number; readonly placeholder: string } | undefined {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only this file writes it, where no agent can
  return text === undefined ? undefined : (JSON.parse(text) as { port: number; placeholder: string })
}

const noPlaceholder = (name: string): RalphError =>
  new RalphError('SANDBOX_UNAVAILABLE', `keys: placeholder does not work with ${name} and this login`, {
    hint: 'it needs claude with ANTHROPIC_API_KEY, or codex with a key in a variable; else remove "keys"',
  })
