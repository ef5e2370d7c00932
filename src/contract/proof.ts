import { z } from 'zod'
import { fileObject } from './file-object.ts'

/**
 * What became of a claim. `unproven`: green, but nothing shows that the work did it. `contested`: green with the agent's tests,
 * red with those of the start. `flaky`: red tests passed when run again. `failed-to-run`: Ralph could not run the checks.
 */
export const ProofVerdict = z.enum(['proved', 'refused', 'unproven', 'contested', 'flaky', 'failed-to-run'])
export type ProofVerdict = z.infer<typeof ProofVerdict>

/** Where the checks ran: a copy at the project's own path, a copy elsewhere, or the work tree itself. The weakest of all checks. */
export const RoomKind = z.enum(['clean', 'plain', 'in-place'])
export type RoomKind = z.infer<typeof RoomKind>

const names = z.array(z.string())

/** Ids of tests, `file > name`; at most `maxNames` each. */
const ProvedTests = fileObject({
  fixed: names,
  stillRed: names,
  added: names,
  missing: names,
  flaky: names.optional().describe('Red in one run of the proof and green in the next, on the same code'),
})
export type ProvedTests = z.output<typeof ProvedTests>

export const maxNames = 50

export const proofLabels = {
  visibleOnly: 'proved by the visible tests only',
  reachable: "state was in the agent's reach",
  weak: 'weak proof',
  inPlace: 'a check ran in the work tree itself',
} as const

/** The result of a proof, as it is kept. It holds no reason: agents can read the files that show it. */
export const ProofMark = fileObject({
  verdict: ProofVerdict.describe('What became of the claim'),
  room: RoomKind.describe('Where the checks ran'),
  labels: z.array(z.string()).describe('What a reader of the result must know'),
  tests: ProvedTests.optional().describe('Tests by name; absent: no check named its tests'),
})
export type ProofMark = z.output<typeof ProofMark>

/** The result of a proof. */
export type Proof = ProofMark & {
  /** For people, one sentence each. */
  readonly reasons: readonly string[]
  /** For the agent's next prompt: what must hold, never which measure refused the claim. */
  readonly prompt: string
  /** Whether a check named its tests at the baseline. */
  readonly named: boolean
  /** Whether any file differs from the baseline. */
  readonly changed: boolean
  /** The doubt cannot be settled by the agent: a person is asked at once. */
  readonly isForPeople?: boolean | undefined
  /** Small changes of the work that no test noticed: for the reviewer and the person, never for the agent. */
  readonly survivors?: readonly string[] | undefined
  /** What the agent did to the tests, for the question about a contested claim. */
  readonly diff?: string | undefined
}

/** What later claims are measured against; the files lie in Ralph's own state folder. */
export const ProofBaseline = fileObject({
  tree: z.string().describe('Git tree of the project before the first agent'),
  record: z.string().describe('Hash of the recorded check results'),
  named: z.boolean().describe('Whether a check named its tests'),
})
export type ProofBaseline = z.output<typeof ProofBaseline>
