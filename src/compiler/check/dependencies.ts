import type { DependencyGraph } from '../../contract/phases.ts'
import type { Diagnostic, AddDiagnostic } from '../parse/diagnostics.ts'
import { type DiagnosticTarget, errorAt } from '../parse/parse.ts'
import { didYouMean } from '../parse/suggest.ts'

export type ItemNode = { readonly id: string; readonly dependsOn: readonly string[]; readonly at: DiagnosticTarget }

/** Returns undefined if no item depends on another. */
export function buildDependencyGraph(phaseId: string, nodes: readonly ItemNode[]): DependencyGraph | undefined {
  if (!nodes.some(({ dependsOn }) => dependsOn.length > 0)) return undefined
  return {
    phaseId,
    nodes: nodes.map(({ id, dependsOn }) => ({ id, dependsOn: [...dependsOn], blockedBy: [...dependsOn] })),
  }
}

export function checkDependencies(nodes: readonly ItemNode[], report: AddDiagnostic): void {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  for (const node of nodes)
    for (const [index, dependency] of node.dependsOn.entries()) {
      const at = { ...node.at, path: [...node.at.path, 'depends-on', index] }
      if (dependency === node.id)
        report(errorAt(at, { code: 'DEPENDENCY_SELF_REFERENCE', message: `Item "${node.id}" depends on itself` }))
      else if (!byId.has(dependency))
        report(createDependencyNotFound(at, { dependency: dependency, id: node.id, known: byId }))
    }
  for (const cycle of findCycles(byId)) {
    const first = byId.get(cycle[0] ?? '')
    if (!first || cycle.length === 1) continue
    const message = `Items depend on each other in a cycle: ${formatCycle(cycle)} -> ${first.id}`
    const at = { ...first.at, path: [...first.at.path, 'depends-on'] }
    report(errorAt(at, { code: 'DEPENDENCY_CIRCULAR', message }))
  }
}

const formatCycle = (cycle: readonly string[]): string =>
  cycle.length <= maxShownIds ? cycle.join(' -> ') : [...cycle.slice(0, maxShownIds), '…'].join(' -> ')

type MissingDependency = {
  readonly dependency: string
  readonly id: string
  readonly known: ReadonlyMap<string, unknown>
}

/** With more ids, searching for a similar one costs more than it helps. */
const maxSearchedIds = 200

function createDependencyNotFound(at: DiagnosticTarget, { dependency, id, known }: MissingDependency): Diagnostic {
  const message = `Item "${id}" depends on "${dependency}", which is not in its collection`
  const suggestion = known.size > maxSearchedIds ? {} : didYouMean(dependency, known.keys())
  return errorAt(at, { code: 'DEPENDENCY_NOT_FOUND', message, ...suggestion })
}

/** Maximum number of reported cycles, and of ids shown per cycle. */
const maxReportedCycles = 20
const maxShownIds = 10

/** Finds one cycle per back edge of a depth-first walk; linear, without recursion. */
function findCycles(byId: ReadonlyMap<string, ItemNode>): string[][] {
  const found: string[][] = []
  const done = new Set<string>()
  for (const start of byId.keys()) {
    const path: { readonly id: string; next: number }[] = done.has(start) ? [] : [{ id: start, next: 0 }]
    const onPath = new Map<string, number>(path.map(({ id }) => [id, 0]))
    for (let top = path.at(-1); top && found.length < maxReportedCycles; top = path.at(-1)) {
      const dependency = byId.get(top.id)?.dependsOn[top.next++]
      if (dependency === undefined) {
        done.add(top.id)
        onPath.delete(top.id)
        path.pop()
        continue
      }
      const back = onPath.get(dependency)
      if (back !== undefined) found.push(path.slice(back).map(({ id }) => id))
      else if (byId.has(dependency) && !done.has(dependency)) {
        onPath.set(dependency, path.length)
        path.push({ id: dependency, next: 0 })
      }
    }
  }
  return found
}
