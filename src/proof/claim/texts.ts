import type { Claim } from './open-proof.ts'
import type { Finding, JudgedCheck } from './prove.ts'
import type { Seal } from './seal.ts'

/** The sentence for a claim that nothing proves. */
export const nothingNewCanFail = 'Everything was green before, and nothing new can fail.'

const honestEnd =
  'If the goal cannot be reached as it is stated, or a test itself is wrong, do not work around it: report needs-human with one clear question. That is an honest end.'

const groundRules =
  'Ralph runs the checks itself, on a clean copy of the project without ignored files, and measures them against the start of the sprint: every test of the start must still be there and pass.'

/** Reasons for people, and the text for the next prompt, which says what must hold and not how Ralph knows. */
export function describeProof(finding: Finding, claim: Claim): { readonly reasons: string[]; readonly prompt: string } {
  return { reasons: [...listReasons(finding, claim), ...claim.notes], prompt: writePrompt(finding, claim) }
}

function listReasons(finding: Finding, claim: Claim): string[] {
  const { verdict, now, lost = [], redBefore, old = now } = finding
  switch (verdict) {
    case 'proved':
      return redBefore ? [describeRedBefore(redBefore.tests)] : [describeFixed(old)]
    case 'refused':
      return now.filter(isRed).map(describeRed)
    case 'unproven':
      if (finding.grade === 'empty') return ['The new tests pass even if the changed functions do nothing.']
      if (finding.checker !== undefined)
        return [`The tests pass even if ${finding.checker} does nothing, so it looks like a part of the tests.`]
      if (finding.knowledge)
        return [
          `The work looks for the program that tests it, for a moment near now, for notes of its last run, or for files that git ignores: ${few(finding.knowledge)}`,
        ]
      if (finding.seal) return describeSurvivors(finding.seal)
      return [claim.isChanged ? nothingNewCanFail : 'No file has changed since the sprint began.']
    case 'contested':
      return finding.reason === undefined
        ? [`With the tests of the start: ${lost.map(describeRed).join('; ')}`, ...describeFrozen(claim)]
        : [finding.reason]
    case 'flaky':
      return [
        `Red, and passed when run again: ${few([...now, ...old].flatMap(({ judged }) => judged.tests?.flaky ?? []))}`,
      ]
    case 'failed-to-run':
      return []
  }
}

const describeSurvivors = ({ survivors, noticed, tried }: Seal): string[] => [
  `The tests noticed only ${noticed} of ${tried} small changes of the work. Not noticed: ${survivors.slice(0, 20).join('; ')}`,
]

const isRed = ({ judged }: JudgedCheck): boolean => judged.problem !== undefined

function describeRed({ check, judged: { problem = '', tests } }: JudgedCheck): string {
  if (check.heldOut !== undefined) return 'a held-out check is red'
  const names = [...(tests?.missing ?? []), ...(tests?.newlyRed ?? []), ...(tests?.stillRed ?? [])]
  return `${check.name ?? check.run}: ${problem}${names.length > 0 ? ` (${few(names)})` : ''}`
}

const describeRedBefore = (tests: readonly string[]): string =>
  tests.length > 0 ? `red without the change: ${few(tests)}` : 'the new tests are red without the change'

function describeFixed(old: readonly JudgedCheck[]): string {
  const fixed = old.flatMap(({ judged }) => judged.tests?.fixed ?? [])
  const checks = old.filter(({ record }) => !record.passed).map(({ check }) => check.name ?? check.run)
  return `red before, green now: ${few(fixed.length > 0 ? fixed : checks)}`
}

const describeFrozen = ({ frozenChanges }: Claim): string[] =>
  frozenChanges.length === 0 ? [] : [`The agent changed: ${few(frozenChanges.map(({ path }) => path))}`]

const few = (names: readonly string[]): string => {
  const all = [...new Set(names)]
  return all.length <= 5 ? all.join(', ') : `${all.slice(0, 5).join(', ')} and ${all.length - 5} more`
}

function writePrompt({ verdict, now, grade, seal, knowledge, checker }: Finding, claim: Claim): string {
  if (verdict === 'unproven') {
    const isDoubtful = grade === 'empty' || seal !== undefined || (knowledge ?? checker) !== undefined
    const why = isDoubtful
      ? 'The tests hardly look at what the change does.'
      : claim.isChanged
        ? nothingNewCanFail
        : 'No file has changed since the sprint began.'
    return `${why} Show that your work does what the goal asks: add a test that fails without your change and passes with it. If there is nothing left to do, or no test can show it, report needs-human and say so. That is an honest end.`
  }
  const tests = now.filter(({ check }) => check.heldOut === undefined).flatMap(({ judged }) => judged.tests ?? [])
  const lines = [
    ...list(
      'Red',
      tests.flatMap(({ stillRed, newlyRed }) => [...stillRed, ...newlyRed]),
    ),
    ...list(
      'Missing, skipped or not run',
      tests.flatMap(({ missing }) => missing),
    ),
    ...(now.some((each) => isRed(each) && each.check.heldOut !== undefined) ? ['A held-out check is red.'] : []),
    ...list('What the checks could not see', claim.notes),
  ]
  return [groundRules, ...lines, honestEnd].join('\n\n')
}

const list = (title: string, ids: readonly string[]): string[] =>
  ids.length === 0
    ? []
    : [
        `${title}:\n${[...new Set(ids)]
          .slice(0, 30)
          .map((id) => `- ${id}`)
          .join('\n')}`,
      ]
