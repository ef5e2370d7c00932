import type { TestRun } from '../../contract/tests.ts'

/**
 * The names that differ between two runs of the same code, in their normal form: they hold a time, a port, a path or random
 * data. `compareRuns` then compares them by that form.
 */
export function findVolatileNames(first: TestRun, second: TestRun): ReadonlySet<string> {
  const before = new Set(first.tests.map(({ name }) => name))
  const after = new Set(second.tests.map(({ name }) => name))
  const different = [...before, ...after].filter((name) => !before.has(name) || !after.has(name))
  return new Set(different.map(normalizeName))
}

/** A name without what tends to change: identifiers, hashes, paths, numbers. */
export const normalizeName = (name: string): string =>
  name
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi, '*')
    .replace(/\b0x[0-9a-f]+\b|\b(?=[a-f]*\d)[0-9a-f]{7,}\b/gi, '*')
    .replace(/(?:\/[\w.@-]+){2,}/g, '*')
    .replace(/\d+(?:[.:,]\d+)*/g, '*')
