import type { Progress } from './progress.ts'

/** How a sprint works: towards a goal by steps, reported or edited in PROGRESS.yaml (classic), from the agent's own notes, or through the phases of a workflow. */
export type WayKind = 'classic' | 'goal' | 'notes' | 'phases'

const kinds = {
  ralph: { report: 'goal', classic: 'classic', notes: 'notes' },
  standard: { report: 'phases', classic: 'phases', notes: 'notes' },
} as const satisfies Record<Progress['mode'], Record<NonNullable<Progress['protocol']>, WayKind>>

/** Files store it as two fields; everything else asks this function. */
export const wayKind = ({ mode, protocol = 'report' }: Pick<Progress, 'mode' | 'protocol'>): WayKind =>
  kinds[mode][protocol]

/** Whether the agent signals the end by its notes and their lock. */
export const isNotesProtocol = (protocol: Progress['protocol']): boolean => protocol === 'notes'

/** Whether a workflow, or a sprint, works towards a goal instead of through phases. */
export const isGoalDriven = ({ mode }: { readonly mode?: Progress['mode'] | undefined }): boolean => mode === 'ralph'
