import { parseArgs } from 'node:util'

export type BridgeOptions = {
  readonly cwd: string
  readonly model: string | undefined
  readonly resume: string | undefined
  /** A login method that needs no user, tried only if its variable is set. */
  readonly auth: { readonly method: string; readonly variable: string } | undefined
  /** The user's answer to the question of an earlier turn. */
  readonly answer: string | undefined
  /** How long an agent may take to withdraw a request that only the user can answer, before it becomes a question. */
  readonly askAfterMs: number
  /** How long to wait after cancelling, after the end of input, after TERM and after KILL. */
  readonly graceMs: number
  readonly command: readonly [string, ...string[]]
}

export function parseBridgeOptions(args: readonly string[]): BridgeOptions {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: {
      cwd: { type: 'string' },
      model: { type: 'string' },
      resume: { type: 'string' },
      auth: { type: 'string' },
      answer: { type: 'string' },
      'ask-after-ms': { type: 'string', default: '5000' },
      'grace-ms': { type: 'string', default: '2000' },
    },
    allowPositionals: true,
  })
  const [program, ...rest] = positionals
  if (program === undefined) throw new Error('usage: acp-bridge [options] -- program [arguments] < prompt')
  const [method, variable] = values.auth?.split('=') ?? []
  return {
    cwd: values.cwd ?? process.cwd(),
    model: values.model,
    resume: values.resume,
    auth: method !== undefined && variable !== undefined ? { method, variable } : undefined,
    answer: values.answer,
    askAfterMs: Number(values['ask-after-ms']),
    graceMs: Number(values['grace-ms']),
    command: [program, ...rest],
  }
}
