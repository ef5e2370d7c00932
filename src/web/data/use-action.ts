import { useMutation } from '@tanstack/react-query'
import type { CallOptions } from '../../client/client.ts'
import { toast } from '../ui/toast.tsx'
import { describeError } from './api.ts'

type ActionOptions<G, A> = {
  /** The success message; undefined if the page shows the result anyway. */
  readonly successToast?: string | ((answer: A) => string)
  readonly onDone?: (answer: A, input: G) => void
}

export type UserAction<G> = {
  readonly run: (input: G) => void
  readonly busy: boolean
}

/** A user's action with an idempotency key, so that network retries have no second effect. Errors appear in a toast. */
export function useAction<G, A>(
  call: (input: G, options?: CallOptions) => Promise<A>,
  { successToast: successText, onDone }: ActionOptions<G, A> = {},
): UserAction<G> {
  const { mutate, isPending } = useMutation({
    mutationFn: ({ input, idempotencyKey }: { input: G; idempotencyKey: string }) => call(input, { idempotencyKey }),
    onSuccess: (answer, { input }) => {
      if (successText !== undefined)
        toast({ title: typeof successText === 'string' ? successText : successText(answer) })
      onDone?.(answer, input)
    },
    onError: (error) => toast({ ...describeError(error), bad: true }),
  })
  return { run: (input) => mutate({ input, idempotencyKey: crypto.randomUUID() }), busy: isPending }
}
