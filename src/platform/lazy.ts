/** Creates a value on the first call and returns the same one afterwards. A failed call creates it again. */
export function lazy<T>(create: () => T): () => T {
  let created: { readonly value: T } | undefined
  return () => (created ??= { value: create() }).value
}
