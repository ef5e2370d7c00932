import { useMutation } from '@tanstack/react-query'
import type { CallOptions } from '../../client/client.ts'
import { toast } from '../ui/toast.tsx'
import { describeError } from './api.ts'

type ActionOptions<G, A> = {
  /** The success message; undefined if the page shows the result anyway. */
  readonly successToast?: string | ((answer: A) => string)
  readonly onDone?: (answer: A, given: G) => void
}

export type UserAction<G> = {
  readonly run: (given: G) => void
  readonly busy: boolean
}

/** A user's action with an idempotency key, so that network retries have no second effect. Errors appear in a toast. */
export function useAction<G, A>(
  call: (given: G, options?: CallOptions) => Promise<A>,
  { successToast: said, onDone }: ActionOptions<G, A> = {},
): UserAction<G> {
  const { mutate, isPending } = useMutation({
    mutationFn: ({ given, idempotencyKey }: { given: G; idempotencyKey: string }) => call(given, { idempotencyKey }),
    onSuccess: (answer, { given }) => {
      if (said !== undefined) toast({ title: typeof said === 'string' ? said : said(answer) })
      onDone?.(answer, given)
    },
    onError: (error) => toast({ ...describeError(error), bad: true }),
  })
  return { run: (given) => mutate({ given, idempotencyKey: crypto.randomUUID() }), busy: isPending }
}
