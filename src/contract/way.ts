import type { Progress } from './progress.ts'

/** Whether the agent signals the end by its notes and their lock. */
export const isNotesProtocol = (protocol: Progress['protocol']): boolean => protocol === 'notes'

/** Whether a workflow, or a sprint, works towards a goal instead of through phases. */
export const isGoalDriven = ({ mode }: { readonly mode?: Progress['mode'] | undefined }): boolean => mode === 'ralph'
