import { z } from 'zod'

/** A text in a file. */
export const nonEmptyText = z.string().refine((value) => value.trim() !== '', { error: 'must not be empty' })

// oxlint-disable typescript/no-unsafe-type-assertion -- names computed at run time meet names computed by types; file-object.test.ts holds them together

/** `idleThreshold` -> `idle-threshold`, at type level. */
export type Kebab<S extends string> = S extends `${infer Head}${infer Tail}`
  ? Head extends Lowercase<Head>
    ? `${Head}${Kebab<Tail>}`
    : `-${Lowercase<Head>}${Kebab<Tail>}`
  : S

export const toKebab = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

type FileShape<S extends z.ZodRawShape> = { [K in keyof S & string as Kebab<K>]: S[K] }

/**
 * An object that is kebab-case in files and camelCase in memory. Both shapes, the types, the validation and the JSON Schema
 * come from this one definition; nothing else in the project converts names. Keys of records are data and stay unchanged.
 */
export function fileObject<const S extends z.ZodRawShape>(shape: S) {
  const names = Object.keys(shape).map((name) => [name, toKebab(name)] as const)
  const fileShape = Object.fromEntries(names.map(([name, fileName]) => [fileName, shape[name]]))
  return z.codec(z.strictObject(fileShape as FileShape<S>), inside as z.ZodCustom<z.output<z.ZodObject<S>>>, {
    decode: (file) => renameFields(file as Record<string, unknown>, names, 'decode') as z.output<z.ZodObject<S>>,
    encode: (value) => renameFields(value as Record<string, unknown>, names, 'encode') as never,
  })
}

/** `decode` builds the inner side and its types guarantee it, so it needs no validation. Shared, because a hundred objects are built at startup. */
const inside: z.ZodCustom = z.custom()

/** The same fields, all optional: what a user writes before defaults apply. */
export function partialFileObject<const S extends z.ZodRawShape>(shape: S) {
  const optional = Object.fromEntries(Object.entries(shape).map(([name, field]) => [name, z.optional(field)]))
  return fileObject(optional as { [K in keyof S]: z.ZodOptional<S[K]> })
}

function renameFields(
  from: Record<string, unknown>,
  names: readonly (readonly [string, string])[],
  direction: 'decode' | 'encode',
) {
  const to: Record<string, unknown> = {}
  for (const [name, fileName] of names) {
    const value = from[direction === 'decode' ? fileName : name]
    if (value !== undefined) to[direction === 'decode' ? name : fileName] = value
  }
  return to
}
