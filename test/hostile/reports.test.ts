import { expect, it } from 'vitest'
import { Report } from '../../src/contract/report.ts'
import { readReport } from '../../src/loop/ways/goal/goal-report.ts'
import { createRandom, type Random } from '../simulation/random.ts'

/** For more cases: `FUZZ_CASES=20000000 npx vitest run test/hostile/reports.test.ts`. */
const cases = Number(process.env['FUZZ_CASES'] ?? 200_000)
const seed = Number(process.env['FUZZ_SEED'] ?? 20_261_116)

const reports = [
  { status: 'continue', summary: 'did it', completedStepIds: ['step-0'], pendingSteps: [{ id: null, prompt: 'more' }] },
  { status: 'goal-complete', summary: 's', goalCompleteSummary: 'all' },
  { status: 'needs-human', summary: 's', humanNeeded: { reason: 'r', details: 'd' } },
].map((report) => JSON.stringify(report))

const pieces = [
  '```json\n|```\n|\n```|~~~\n|\n|\r\n| |{|}|[|]|"|,|:|null|1e999|RALPH_COMPLETE: x|"status":"goal-complete"'.split(
    '|',
  ),
  ['\u0000', '\u2028', '\ud800', '\\u0000', '__proto__', '😀'],
].flat()

const pickFrom = (random: Random, list: readonly string[]): string => list[random.below(list.length)] ?? ''

/** A damaged report: cut, doubled, overwritten, mixed with another one, or put into a fence. */
function mangled(random: Random): string {
  let text = pickFrom(random, reports)
  if (random.chance(0.7)) text = `said\n\`\`\`json\n${text}\n\`\`\``
  for (let changes = random.below(5); changes > 0; changes--) {
    const [from, to] = [random.below(text.length + 1), random.below(text.length + 1)].toSorted((a, b) => a - b)
    const middle = random.chance(0.5) ? pickFrom(random, pieces) : random.chance(0.5) ? '' : pickFrom(random, reports)
    text = text.slice(0, from) + middle + text.slice(random.chance(0.6) ? from : to)
  }
  return text
}

it(`reads ${cases} mangled messages without an error, and extracts only valid reports`, { timeout: 3_600_000 }, () => {
  const random = createRandom(seed)
  const found = { report: 0, malformed: 0 }
  const unsound: string[] = []
  for (let number = 0; number < cases; number++) {
    const text = mangled(random)
    const read = readReport(text, '')
    found[read.kind]++
    const isSound = read.kind === 'malformed' ? read.reason !== '' : Report.safeParse(read.report).success
    if (!isSound) unsound.push(`message ${number} of seed ${seed}: ${JSON.stringify(text)}`)
  }

  expect(unsound).toEqual([])
  expect(found.report).toBeGreaterThan(cases / 20)
  expect(found.malformed).toBeGreaterThan(cases / 5)
})
