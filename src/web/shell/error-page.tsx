import { isNotFound, describeError } from '../data/api.ts'
import { NotFoundPage } from './not-found.tsx'
import { ProblemNotice } from '../ui/states.tsx'

/** The error page. Unknown and forbidden look the same. */
export const ErrorPage = ({ error, reset }: { error: unknown; reset?: () => void }) =>
  isNotFound(error) ? <NotFoundPage /> : <ProblemNotice {...describeError(error)} {...(reset && { onRetry: reset })} />
