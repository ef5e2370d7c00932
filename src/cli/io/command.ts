import { parseArgs } from 'node:util'
import { RalphError, errorMessage } from '../../contract/errors.ts'
import { findNearestWord } from '../../contract/text.ts'
import type { Io } from './io.ts'

export type CommandOption = {
  readonly type: 'string' | 'boolean'
  readonly short?: string
  /** Placeholder of the value, shown in the help. */
  readonly value?: string
  readonly description: string
}
export type CommandOptions = Readonly<Record<string, CommandOption>>

type CommandValues<O extends CommandOptions> = {
  readonly [K in keyof O]?: O[K]['type'] extends 'boolean' ? boolean : string
}

export type CommandAbout = {
  readonly name: string
  readonly summary: string
  /** Positional arguments as shown in the help: `<text>` is required, `[sprint]` is optional. */
  readonly arguments?: readonly string[]
  readonly details?: string
  readonly examples?: readonly string[]
}

type CommandDeclaration<O extends CommandOptions> = CommandAbout & {
  readonly options?: O
  /** Resolves with the exit code. */
  readonly run: (
    parsed: { readonly values: CommandValues<O>; readonly positionals: readonly string[] },
    io: Io,
  ) => Promise<number>
}

export interface CliCommand {
  /** The declaration that help and shell completion are generated from. */
  readonly about: CommandAbout & { readonly options: CommandOptions }
  readonly run: (args: readonly string[], io: Io) => Promise<number>
}

const common = {
  help: { type: 'boolean', short: 'h', description: 'show this help' },
} as const

/**
 * Defines a command: typed by its options, strict about unknown ones, with help generated from the same declaration.
 */
export function defineCommand<const O extends CommandOptions>(declared: CommandDeclaration<O>): CliCommand {
  const options: CommandOptions = { ...declared.options, ...common }
  return {
    about: { ...declared, options },
    async run(args, io) {
      const parsed = parseCommandArgs(declared.name, args, options)
      if (parsed.values['help'] === true) {
        const { printWrapped } = await import('./print-wrapped.ts')
        printWrapped(commandHelp(declared, options).split('\n'), io)
        return 0
      }
      assertPositionalCount(declared, parsed.positionals)
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- parseArgs has just checked them against the same options
      return declared.run({ values: parsed.values as CommandValues<O>, positionals: parsed.positionals }, io)
    },
  }
}

function parseCommandArgs(name: string, args: readonly string[], options: CommandOptions) {
  try {
    return parseArgs({ args: [...args], options: { ...options }, allowPositionals: true, strict: true })
  } catch (cause) {
    const message = errorMessage(cause).split('. ')[0] ?? ''
    throw new RalphError('USAGE', `${name}: ${message.replaceAll("'", '"')}`, {
      hint: usageHint(name, message, options),
      cause,
    })
  }
}

function usageHint(name: string, message: string, options: CommandOptions): string {
  const typed = /'--([^'=\s]+)/.exec(message)?.[1]
  const names = Object.keys(options)
  const completions = names.filter((option) => typed !== undefined && option.startsWith(typed))
  const suggestion = completions.length === 1 ? completions[0] : typed && findNearestWord(typed, names)
  const see = `see: ralph ${name} --help`
  return suggestion && suggestion !== typed ? `did you mean --${suggestion}? ${see}` : see
}

function assertPositionalCount(declared: CommandAbout, positionals: readonly string[]): void {
  const names = declared.arguments ?? []
  const missing = names.filter((argument) => argument.startsWith('<'))[positionals.length]
  const hint = `see: ralph ${declared.name} --help`
  if (missing !== undefined) throw new RalphError('USAGE', `${declared.name}: missing ${missing}`, { hint })
  if (positionals.length > names.length) {
    throw new RalphError('USAGE', `${declared.name}: unexpected argument "${positionals[names.length]}"`, { hint })
  }
}

function commandHelp(declared: CommandAbout, options: CommandOptions): string {
  const usage = ['ralph', declared.name, ...(declared.arguments ?? []), '[options]'].join(' ')
  const rows = Object.entries(options).map(([name, { short, value, type, description }]) => {
    const flag = `${short ? `-${short}, ` : '    '}--${name}${type === 'string' ? ` ${value ?? 'VALUE'}` : ''}`
    return [flag, description] as const
  })
  const width = Math.max(...rows.map(([flag]) => flag.length))
  return [
    declared.summary,
    '',
    `Usage: ${usage}`,
    ...(declared.details ? ['', joinSentences(declared.details)] : []),
    '',
    'Options:',
    ...rows.map(([flag, description]) => `  ${flag.padEnd(width)}  ${description}`),
    ...(declared.examples ? ['', 'Examples:', ...declared.examples.map((example) => `  ${example}`)] : []),
  ].join('\n')
}

/** Line breaks inside a sentence suit the source, not every terminal. Rows of a list and paragraphs stay. */
const joinSentences = (text: string): string => text.replaceAll(/(?<=[^\n.:])\n(?!\s|[\w-]+ {2})/g, ' ')

/** Parses a positive number, or throws a usage error. */
export function parsePositiveNumber(
  text: string | undefined,
  flag: string,
  kind: 'whole' | 'any' = 'whole',
): number | undefined {
  if (text === undefined) return undefined
  const number = Number(text)
  if (number > 0 && Number.isFinite(number) && (kind === 'any' || Number.isInteger(number))) return number
  throw new RalphError(
    'USAGE',
    `${flag} expects a ${kind === 'whole' ? 'whole number' : 'number'} above 0, not "${text}"`,
  )
}
