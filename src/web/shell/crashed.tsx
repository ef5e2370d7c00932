import { isUnknown, told } from '../data/api.ts'
import { NotFoundPage } from './not-found.tsx'
import { Problem } from '../ui/states.tsx'

/** The error page. Unknown and forbidden look the same. */
export const Crashed = ({ error, reset }: { error: unknown; reset?: () => void }) =>
  isUnknown(error) ? <NotFoundPage /> : <Problem {...told(error)} {...(reset && { onRetry: reset })} />
