import type { CheckResult } from '../../contract/progress.ts'
import type { Fact } from '../../loop/core/fact.ts'
import { checkOutputLines } from '../../words/check-output.ts'
import { describeProof } from '../../words/proof-sentences.ts'
import { readIterationRecords } from '../../host/journal-reader.ts'

export type IterationChecks = {
  readonly iteration: number
  readonly results: readonly CheckResult[]
  readonly proof?: Extract<Fact, { type: 'checks-ended' }>['proof']
}

/** What the checks of an iteration printed; 0 is the baseline. */
export async function readCheckResults(sprintDir: string, number: number): Promise<IterationChecks[]> {
  const records = await readIterationRecords(sprintDir, { from: number, before: number + 1 })
  return records.flatMap(({ kind, data }) => {
    if (kind !== 'fact') return []
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the checksum says that we wrote it, and we write facts
    const fact = data as Fact
    if (fact.type !== 'checks-ended' || fact.iteration !== number) return []
    const { iteration, results, proof } = fact
    return [{ iteration, results, ...(proof && { proof }) }]
  })
}

/** The checks of an iteration with the tests by name, and the output of those that failed. */
export function iterationCheckLines({ results, proof }: IterationChecks): string[] {
  const groups = proof ? describeProof(proof).groups : []
  return [
    ...checkOutputLines(results),
    ...groups.flatMap(({ title, names }) => [`== ${title}`, ...names.map((name) => `  ${name}`)]),
  ]
}
