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
  /** The command, and the name to show if the user gives none. Put what users wrote through `quoteShellWord`. */
  readonly toCommand: (entry: z.output<z.ZodObject<F>>) => Pick<Check, 'run'> & { readonly name?: string }
}

export function defineCheckKind<const F extends z.ZodRawShape>({ fields, toCommand }: KindOptions<F>): CheckKind {
  const entry: z.ZodType<object> = fileObject({ ...fields, ...checkFields })
  const decode = (written: object): Check => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schema above is built from these fields
    const command = toCommand(written as z.output<z.ZodObject<F>>)
    const common = Object.fromEntries(Object.entries(written).filter(([name]) => Object.hasOwn(checkFields, name)))
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the common fields, which the schema above has checked
    return { ...command, ...(common as Omit<Check, 'run'>) }
  }
  return z.codec(entry, z.custom<Check>(), { decode, encode: (check) => check })
}
