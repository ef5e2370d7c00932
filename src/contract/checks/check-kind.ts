import { z } from 'zod'
import { fileObject } from '../file-object.ts'
import { checkFields, type Check } from './check.ts'

/**
 * A kind of check: what users write in `done-when`, decoded into the command that decides it. Everything after the compiler knows
 * commands only, so a kind works in the clean room, in the fleet and on the page without a change there.
 */
export type CheckKind = z.ZodType<Check>

type KindOptions<F extends z.ZodRawShape> = {
  /** The fields of this kind, besides those that every check has. */
  readonly fields: F
  /** The command, and the name to show if the user gives none. Put what users wrote through `quoteWord`. */
  readonly toCommand: (entry: z.output<z.ZodObject<F>>) => Pick<Check, 'run'> & { readonly name: string }
}

export function defineCheckKind<const F extends z.ZodRawShape>({ fields, toCommand }: KindOptions<F>): CheckKind {
  const entry = fileObject({ ...checkFields, ...fields })
  const decode = (value: Record<string, unknown>): Check => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schema above is built from these fields
    const { name, ...written } = value as z.output<z.ZodObject<F>> & Omit<Check, 'run'>
    const { run, name: usual } = toCommand(written as z.output<z.ZodObject<F>>)
    const common = Object.fromEntries(Object.entries(written).filter(([key]) => Object.hasOwn(checkFields, key)))
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the fields of a check, by their names
    return { ...(common as Omit<Check, 'run'>), run, name: name ?? usual }
  }
  return z.codec(entry as z.ZodType<Record<string, unknown>, Record<string, unknown>>, z.custom<Check>(), {
    decode,
    encode: () => {
      throw new Error('a check is written as its command')
    },
  })
}

/** One word of a shell command, whatever is in it. */
export const quoteWord = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
