import { QueryClient } from '@tanstack/react-query'
import { createClient } from '../../client/client.ts'
import { backoffMs } from '../../contract/backoff.ts'
import { errorCodes, RalphError } from '../../contract/errors.ts'
import { adjustClock } from '../ui/now.ts'

export const api = createClient({
  fetch: async (input, init) => {
    const answer = await fetch(input, init)
    const time = Date.parse(answer.headers.get('date') ?? '')
    if (!Number.isNaN(time)) adjustClock(time)
    return answer
  },
})

const retryBackoff = { firstMs: 500, maxMs: 5000 }

/** Live changes keep cached answers up to date, so nothing is refetched because of its age. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: Number.POSITIVE_INFINITY,
      gcTime: 5 * 60_000,
      refetchOnWindowFocus: false,
      refetchOnReconnect: false,
      retry: (failures, error) => failures < 2 && isRetryable(error),
      retryDelay: (failures) => backoffMs(retryBackoff, failures + 1, Math.random()),
    },
    mutations: { retry: false },
  },
})

const isRetryable = (error: unknown): boolean => error instanceof RalphError && errorCodes[error.code].retry

export const isSignedOut = (error: unknown): boolean => error instanceof RalphError && error.code === 'UNAUTHENTICATED'

/** Unknown and forbidden look the same to users without access. */
export const isNotFound = (error: unknown): boolean =>
  error instanceof RalphError && [404, 403].includes(errorCodes[error.code].status)

export type ErrorText = { readonly title: string; readonly detail?: string; readonly code?: string }

/** Describes an error for the user. */
export function describeError(error: unknown): ErrorText {
  if (!(error instanceof RalphError))
    return { title: 'The page received something it does not understand', detail: String(error) }
  if (error.code === 'BACKEND_UNREACHABLE')
    return { title: 'Cannot reach the backend', detail: 'It may be restarting. This page retries automatically.' }
  const { message, hint, code } = error
  return { title: capitalised(message), ...(hint !== undefined && { detail: hint }), code }
}

const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
