import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { z } from 'zod'
import { readTextSyncIfExists } from '../../platform/files/files.ts'
import { lazy } from '../../platform/lazy.ts'

const Globs = z.array(z.string()).default([])

const KeyRule = z.strictObject({
  frozen: z.array(z.string()),
  dependencies: z.array(z.string()),
  entries: Globs,
})
export type KeyRule = z.infer<typeof KeyRule>

const Ecosystem = z.strictObject({
  roots: Globs,
  marks: z.array(z.string()).min(1),
  test: Globs,
  found: Globs,
  support: Globs,
  setting: Globs,
  keys: z.record(z.string(), KeyRule).default({}),
  lock: Globs,
  drop: Globs,
  dependencies: Globs,
  caches: Globs,
  shadow: z
    .string()
    .default('')
    .transform((names) => names.split(/\s+/).filter(Boolean)),
})
type Ecosystem = z.infer<typeof Ecosystem>

/** What is a test and what defines a check, by the name of the ecosystem. */
export type FrozenTable = Readonly<Record<string, Ecosystem>>

export const parseFrozenTable = (text: string): FrozenTable => z.record(z.string(), Ecosystem).parse(parse(text))

/** The table that comes with the package. */
export const frozenTable = lazy((): FrozenTable => {
  // The sources lie one folder deeper than the program that the build makes of them.
  const texts = ['../../assets/frozen.yaml', '../../../assets/frozen.yaml'].map((path) =>
    readTextSyncIfExists(fileURLToPath(new URL(path, import.meta.url))),
  )
  return parseFrozenTable(texts.find((text) => text !== undefined) ?? '')
})
