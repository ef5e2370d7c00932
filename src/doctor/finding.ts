/**
 * What must hold whatever happens: I1 nothing acknowledged is missing; I2 iterations are numbered 1, 2, 3 … and end once; I3 a
 * step is completed once and for all; I4 what has a result does not run again; I5 one owner, one process per attempt; I7
 * nothing of an attempt that is over still runs; I8 PROGRESS.yaml is what the journal leads to; I10 counters only grow; I11
 * limits hold; I14 a hook ends once.
 */
export type Invariant = 'I1' | 'I2' | 'I3' | 'I4' | 'I5' | 'I7' | 'I8' | 'I10' | 'I11' | 'I14'

/** `notice`: as it should not be at rest, but the next run puts it right. */
export type Finding = {
  readonly invariant: Invariant
  readonly level: 'broken' | 'notice'
  readonly text: string
  /** The attempt that it is about, by the name of its folder. */
  readonly attempt?: string
}

export const broken = (invariant: Invariant, text: string): Finding => ({ invariant, level: 'broken', text })
export const notice = (invariant: Invariant, text: string): Finding => ({ invariant, level: 'notice', text })
