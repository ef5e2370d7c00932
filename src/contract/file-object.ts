import { z } from 'zod'

// oxlint-disable typescript/no-unsafe-type-assertion -- names computed at run time meet names computed by types; file-object.test.ts holds them together

/** `idleThreshold` -> `idle-threshold`, on the level of types. */
export type Kebab<S extends string> = S extends `${infer Head}${infer Tail}`
  ? Head extends Lowercase<Head>
    ? `${Head}${Kebab<Tail>}`
    : `-${Lowercase<Head>}${Kebab<Tail>}`
  : S

export const toKebab = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

type FileShape<S extends z.ZodRawShape> = { [K in keyof S & string as Kebab<K>]: S[K] }

/**
 * An object that is kebab-case in files and camelCase inside. Both shapes, the types, the checks and the JSON Schema come
 * from the one definition given here; nothing else in the project converts names. Keys of records are data and stay as they are.
 */
export function fileObject<const S extends z.ZodRawShape>(shape: S) {
  const names = Object.keys(shape).map((name) => [name, toKebab(name)] as const)
  const fileShape = Object.fromEntries(names.map(([name, fileName]) => [fileName, shape[name]]))
  return z.codec(z.strictObject(fileShape as FileShape<S>), inside as z.ZodCustom<z.output<z.ZodObject<S>>>, {
    decode: (file) => rename(file as Record<string, unknown>, names, 'decode') as z.output<z.ZodObject<S>>,
    encode: (value) => rename(value as Record<string, unknown>, names, 'encode') as never,
  })
}

/** The inner side needs no check: `decode` makes it, and types hold it. One for all, for there are a hundred objects to build at the start. */
const inside: z.ZodCustom = z.custom()

/** The same fields, none required: what a person writes before the defaults are filled in. */
export function partialFileObject<const S extends z.ZodRawShape>(shape: S) {
  const optional = Object.fromEntries(Object.entries(shape).map(([name, field]) => [name, z.optional(field)]))
  return fileObject(optional as { [K in keyof S]: z.ZodOptional<S[K]> })
}

function rename(
  from: Record<string, unknown>,
  names: readonly (readonly [string, string])[],
  way: 'decode' | 'encode',
) {
  const to: Record<string, unknown> = {}
  for (const [name, fileName] of names) {
    const value = from[way === 'decode' ? fileName : name]
    if (value !== undefined) to[way === 'decode' ? name : fileName] = value
  }
  return to
}
