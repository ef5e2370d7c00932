import type { ProofMark, ProofVerdict, RoomKind } from '../contract/proof.ts'
import type { IterationRecord } from '../contract/progress.ts'
import type { Tone } from './tone.ts'

const verdicts: Readonly<Record<ProofVerdict, { readonly tone: Tone; readonly sentence: string }>> = {
  proved: { tone: 'ok', sentence: 'Proved: the checks pass, and tests show that the work did it' },
  refused: { tone: 'bad', sentence: 'Refused: the claim does not hold' },
  unproven: { tone: 'warn', sentence: 'Unproven: the checks pass, but nothing shows that the work did it' },
  contested: { tone: 'warn', sentence: "Contested: green with the agent's tests, red with those of the start" },
  flaky: { tone: 'warn', sentence: 'Flaky: red tests passed when Ralph ran them again' },
  'failed-to-run': { tone: 'bad', sentence: 'Ralph could not run the checks' },
}

const rooms: Readonly<Record<RoomKind, string>> = {
  clean: "in a clean copy at the project's own path, which no agent has touched",
  plain: 'in a clean copy in another folder',
  'in-place': 'in the work tree itself, which the agent could change',
}

/** Why Ralph accepted or refused a claim, for people. */
export type ProofReasons = {
  readonly tone: Tone
  readonly sentence: string
  readonly room: string
  readonly labels: readonly string[]
  /** Tests by name, grouped by what they show. */
  readonly groups: readonly { readonly title: string; readonly tone: Tone; readonly names: readonly string[] }[]
}

export function describeProof({ verdict, room, labels, tests }: ProofMark): ProofReasons {
  const groups = [
    { title: 'Red at the start, green now', tone: 'ok' as const, names: tests?.fixed ?? [] },
    { title: 'New tests', tone: 'ok' as const, names: tests?.added ?? [] },
    { title: 'Still red', tone: 'bad' as const, names: tests?.stillRed ?? [] },
    { title: 'Missing: were there at the start', tone: 'bad' as const, names: tests?.missing ?? [] },
    { title: 'Flaky: red, then green on the same code', tone: 'warn' as const, names: tests?.flaky ?? [] },
  ]
  return { ...verdicts[verdict], room: rooms[room], labels, groups: groups.filter(({ names }) => names.length > 0) }
}

/** Why the claim of an iteration was accepted or refused when there is no proof of it; undefined if it claimed nothing. */
export function describeClaim({ verdict, checks = [], tampered = [] }: IterationRecord): ProofReasons | undefined {
  if (verdict !== 'accepted' && verdict !== 'refused') return undefined
  const red = checks.filter(({ passed }) => !passed).map(({ name }) => name)
  const sentence =
    verdict === 'accepted'
      ? checks.length === 0
        ? 'Accepted, unchecked: the sprint has no check'
        : 'Accepted: every check passed'
      : red.length > 0
        ? 'Refused: checks failed'
        : 'Refused'
  return {
    tone: verdict === 'refused' ? 'bad' : checks.length === 0 ? 'warn' : 'ok',
    sentence,
    room: '',
    labels: [],
    groups: [
      { title: 'Red checks', tone: 'bad' as const, names: red },
      { title: 'Changed files that define a check', tone: 'bad' as const, names: tampered },
    ].filter(({ names }) => names.length > 0),
  }
}
