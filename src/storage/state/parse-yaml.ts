import { isScalar, parseDocument, visit } from 'yaml'

/**
 * Parses a YAML file that users and agents edit. Throws for a key that appears twice in one map: the value of one of them would be
 * lost. The parser's own test for that takes time that grows with the square of the keys.
 */
export function parseYaml(text: string): unknown {
  const document = parseDocument(text, { uniqueKeys: false })
  const [error] = document.errors
  if (error) throw error
  visit(document, {
    Map: (_, { items }) => {
      const names = new Set<unknown>()
      for (const { key } of items) {
        const name = isScalar(key) ? key.value : key
        if (names.has(name)) throw new Error(`the key "${String(name)}" appears twice in one map`)
        names.add(name)
      }
    },
  })
  return document.toJS({ maxAliasCount: 0 })
}
