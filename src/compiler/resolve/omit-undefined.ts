export type OmitUndefined<T> = { [K in keyof T]?: Exclude<T[K], undefined> }

/** Drops fields that are `undefined`: an optional field is absent, never present without a value. */
export const omitUndefined = <T extends object>(fields: T): OmitUndefined<T> =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the filter does exactly what the type says
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as OmitUndefined<T>
