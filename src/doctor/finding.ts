/**
 * The invariants: I1 nothing acknowledged is missing; I2 iterations are numbered 1, 2, 3 … and end once; I3 a step completes
 * once; I4 no agent or hook with a result runs again; I5 one owner, one process per attempt; I7 no process outlives its attempt; I8
 * PROGRESS.yaml matches the journal; I10 counters only grow; I11 limits hold; I14 a hook ends once.
 */
export type Invariant = 'I1' | 'I2' | 'I3' | 'I4' | 'I5' | 'I7' | 'I8' | 'I10' | 'I11' | 'I14'

/** `notice`: unexpected at rest, but the next run repairs it. */
export type Finding = {
  readonly invariant: Invariant
  readonly level: 'broken' | 'notice'
  readonly text: string
  /** The affected attempt, by the name of its folder. */
  readonly attempt?: string
}

export const broken = (invariant: Invariant, text: string): Finding => ({ invariant, level: 'broken', text })
export const notice = (invariant: Invariant, text: string): Finding => ({ invariant, level: 'notice', text })
