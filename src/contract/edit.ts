import { z } from 'zod'

/** What a user or an agent may change in PROGRESS.yaml while the sprint runs. */
export const Edit = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('step-added'),
    prompt: z.string(),
    /** As its author calls it; absent: another step has that id. */
    id: z.string().optional(),
    completed: z.literal(true).optional(),
  }),
  z.object({ kind: z.literal('step-completed'), id: z.string() }),
  z.object({ kind: z.literal('step-reworded'), id: z.string(), prompt: z.string() }),
  z.object({ kind: z.literal('steps-ordered'), ids: z.array(z.string()) }),
  z.object({ kind: z.literal('pause') }),
  z.object({ kind: z.literal('needs-human'), reason: z.string(), details: z.string() }),
])
export type Edit = z.infer<typeof Edit>
