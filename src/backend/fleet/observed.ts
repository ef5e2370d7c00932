import type { FinishedSprint, FinishPlan, FinishSprint, StopWhen } from '../../contract/fleet/sprint.ts'

/** A request to a sprint that `ralph run` controls. */
export type ObservedRequest =
  | { readonly type: 'stop'; readonly as: 'paused' | 'interrupted'; readonly when: StopWhen }
  | { readonly type: 'tell'; readonly text: string; readonly now: boolean }
  | { readonly type: 'answer'; readonly answer: string; readonly questionId?: string | undefined }
  | { readonly type: 'resume' }

/** Sprints of this computer that `ralph run` controls. Each call rejects like the same command in a terminal. */
export interface ObservedSprints {
  /** Resolves once the request is accepted and its known effects are stored. */
  readonly request: (sprintId: string, request: ObservedRequest) => Promise<void>
  /** The changes between two iterations, as a patch. */
  readonly diff: (sprintId: string, range: { readonly from: number; readonly to: number }) => Promise<string>
  /** What a restore would change, as a patch. */
  readonly previewRestore: (sprintId: string, iteration: number) => Promise<string>
  readonly planFinish: (sprintId: string) => Promise<FinishPlan>
  readonly finish: (sprintId: string, request: FinishSprint) => Promise<FinishedSprint>
  /** Restores the files; resolves with the name of the checkpoint that holds the previous ones. */
  readonly restore: (sprintId: string, iteration: number) => Promise<string>
}
