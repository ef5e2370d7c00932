import type { CollectionItem } from '../../contract/phases.ts'
import { checkId } from '../resolve/check-id.ts'
import type { Compilation } from '../resolve/compilation.ts'
import { errorAt, type Path } from '../parse/parse.ts'

export type Collection = { readonly items: readonly CollectionItem[]; readonly path: Path }

/** Returns the collections of the sprint by name; the old `steps` is the collection `step`. */
export function readCollections({ sprint, report }: Compilation): ReadonlyMap<string, Collection> {
  const { collections, steps } = sprint.value
  const found = new Map<string, Collection>()
  for (const [name, items] of Object.entries(collections ?? {})) found.set(name, { items, path: ['collections', name] })
  if (steps === undefined) return found
  if (found.has('step'))
    report(
      errorAt(
        { parsed: sprint.parsed, path: ['steps'], part: 'key' },
        { code: 'INVALID_COLLECTIONS', message: 'steps and collections.step mean the same; keep one of them' },
      ),
    )
  const items = steps.map((step) => (typeof step === 'string' ? { prompt: step, fields: { prompt: step } } : step))
  return found.set('step', { items, path: ['steps'] })
}

/** Ids as written, or `<type>-<index>`. Several phases may use the same collection under different types. */
export function assignItemIds(collection: Collection, type: string, { sprint, report }: Compilation): string[] {
  const seen = new Set<string>()
  return collection.items.map((item, index) => {
    const id = item.id ?? `${type}-${index}`
    const at = { parsed: sprint.parsed, path: [...collection.path, index, 'id'] }
    if (seen.has(id)) report(errorAt(at, { code: 'DUPLICATE_ITEM_ID', message: `Two items have the id "${id}"` }))
    seen.add(id)
    checkId(id, at, report)
    return id
  })
}
