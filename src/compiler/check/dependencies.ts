import type { DependencyGraph } from '../../contract/phases.ts'
import type { Diagnostic, Tell } from '../parse/diagnostics.ts'
import { type At, errorAt } from '../parse/parse.ts'
import { didYouMean } from '../parse/suggest.ts'

export type Node = { readonly id: string; readonly dependsOn: readonly string[]; readonly at: At }

/** Returns undefined if no item depends on another. */
export function dependencyGraph(phaseId: string, nodes: readonly Node[]): DependencyGraph | undefined {
  if (!nodes.some(({ dependsOn }) => dependsOn.length > 0)) return undefined
  return {
    phaseId,
    nodes: nodes.map(({ id, dependsOn }) => ({ id, dependsOn: [...dependsOn], blockedBy: [...dependsOn] })),
  }
}

export function checkDependencies(nodes: readonly Node[], tell: Tell): void {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  for (const node of nodes)
    for (const [index, wanted] of node.dependsOn.entries()) {
      const at = { ...node.at, path: [...node.at.path, 'depends-on', index] }
      if (wanted === node.id)
        tell(errorAt(at, { code: 'DEPENDENCY_SELF_REFERENCE', message: `Item "${node.id}" depends on itself` }))
      else if (!byId.has(wanted)) tell(notFound(at, { wanted, id: node.id, known: byId }))
    }
  for (const cycle of cycles(byId)) {
    const first = byId.get(cycle[0] ?? '')
    if (!first || cycle.length === 1) continue
    const message = `Items depend on each other in a cycle: ${shown(cycle)} -> ${first.id}`
    const at = { ...first.at, path: [...first.at.path, 'depends-on'] }
    tell(errorAt(at, { code: 'DEPENDENCY_CIRCULAR', message }))
  }
}

const shown = (cycle: readonly string[]): string =>
  cycle.length <= shownIds ? cycle.join(' -> ') : [...cycle.slice(0, shownIds), '…'].join(' -> ')

type Missing = { readonly wanted: string; readonly id: string; readonly known: ReadonlyMap<string, unknown> }

/** With more ids, searching for a similar one costs more than it helps. */
const searchedIds = 200

function notFound(at: At, { wanted, id, known }: Missing): Diagnostic {
  const message = `Item "${id}" depends on "${wanted}", which is not in its collection`
  const suggestion = known.size > searchedIds ? {} : didYouMean(wanted, known.keys())
  return errorAt(at, { code: 'DEPENDENCY_NOT_FOUND', message, ...suggestion })
}

/** Maximum number of reported cycles, and of ids shown per cycle. */
const shownCycles = 20
const shownIds = 10

/** Finds one cycle per back edge of a depth-first walk; linear, without recursion. */
function cycles(byId: ReadonlyMap<string, Node>): string[][] {
  const found: string[][] = []
  const done = new Set<string>()
  for (const start of byId.keys()) {
    const path: { readonly id: string; next: number }[] = done.has(start) ? [] : [{ id: start, next: 0 }]
    const onPath = new Map<string, number>(path.map(({ id }) => [id, 0]))
    for (let top = path.at(-1); top && found.length < shownCycles; top = path.at(-1)) {
      const wanted = byId.get(top.id)?.dependsOn[top.next++]
      if (wanted === undefined) {
        done.add(top.id)
        onPath.delete(top.id)
        path.pop()
        continue
      }
      const back = onPath.get(wanted)
      if (back !== undefined) found.push(path.slice(back).map(({ id }) => id))
      else if (byId.has(wanted) && !done.has(wanted)) {
        onPath.set(wanted, path.length)
        path.push({ id: wanted, next: 0 })
      }
    }
  }
  return found
}
