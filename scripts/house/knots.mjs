import { dirname, join, normalize } from 'node:path'

/**
 * Folders of the same layer that import each other, directly or through others, as `a <-> b`. Files directly in a layer's
 * folder count as a folder of their own.
 */
export function findKnots(sources) {
  const edges = new Map()
  for (const { path, text } of sources) {
    for (const [, name] of text.matchAll(/(?:from |import\()'(\.[^'\n]+)'/g)) {
      const from = roomFor(path)
      const to = roomFor(normalize(join(dirname(path), name)))
      if (from.layer !== to.layer || from.room === to.room) continue
      edges.set(from.room, (edges.get(from.room) ?? new Set()).add(to.room))
    }
  }
  const rooms = [...edges.keys()].toSorted()
  const pairs = rooms.flatMap((a) =>
    rooms.filter((b) => a < b && reaches(edges, a, b) && reaches(edges, b, a)).map((b) => [a, b]),
  )
  return pairs.map(([a, b]) => `${a} <-> ${b}`)
}

/** `src/cli/live/width.ts` is in the room `cli/live`; `src/cli/main.ts` is in `cli`. */
function roomFor(path) {
  const [, layer = '', ...rest] = path.split('/')
  return { layer, room: rest.length > 1 ? `${layer}/${rest.slice(0, -1).join('/')}` : layer }
}

function reaches(edges, from, to, visited = new Set()) {
  if (visited.has(from)) return false
  visited.add(from)
  return [...(edges.get(from) ?? [])].some((next) => next === to || reaches(edges, next, to, visited))
}
