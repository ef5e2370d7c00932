import { createMutants, spread, type Mutant } from '../mutate/mutants.ts'
import type { JudgedCheck, Session } from './prove.ts'
import { runCheck } from './run-check.ts'

/** How many small changes of the work its tests notice. */
export type Seal = {
  readonly noticed: number
  readonly tried: number
  /** Changes that no test noticed, for people: an agent would write a test for each line and nothing else. */
  readonly survivors: readonly string[]
  readonly isBroken: boolean
}

/** Tries small changes of the changed lines until the budget is spent; undefined where no seal is asked for, or none can be tried. */
export async function testSeal(session: Session, now: readonly JudgedCheck[]): Promise<Seal | undefined> {
  const { seal: rules, claim, signal } = session
  const checks = now.filter(({ record, check }) => record.place === 'room' && check.heldOut === undefined)
  if (!rules || checks.length === 0) return undefined
  const sources = await claim.readSources()
  const mutants = spread(sources.flatMap(({ path, before, after }) => createMutants(path, before, after)))
  const until = performance.now() + rules.budget
  const survivors: string[] = []
  let tried = 0
  for (const mutant of mutants) {
    if (signal.aborted || (tried > 0 && performance.now() > until)) break
    tried++
    if (!(await isNoticed(session, checks, mutant))) survivors.push(`${mutant.path}:${mutant.line}: ${mutant.change}`)
  }
  if (tried === 0) return undefined
  const noticed = tried - survivors.length
  return { noticed, tried, survivors, isBroken: noticed / tried < rules.minimum }
}

/** A mutant that never ends is noticed too. */
async function isNoticed(
  { claim, place, dependencies, signal }: Session,
  checks: readonly JudgedCheck[],
  mutant: Mutant,
): Promise<boolean> {
  const tree = await claim.replaceIn(claim.newOnNew, [mutant])
  for (const { check, ended } of checks) {
    const timeout = Math.min(check.timeout, ended.durationMs * 3 + 5000)
    const { exitCode } = await runCheck(place, { check: { ...check, timeout }, tree, dependencies, signal })
    if (exitCode !== 0) return true
  }
  return false
}

export const describeSeal = ({ noticed, tried }: Seal): string =>
  `seal: the tests noticed ${noticed} of ${tried} small changes`
