import { Link } from '@tanstack/react-router'
import { buttonLook } from '../ui/button.tsx'
import { useTitle } from './title.ts'

/** For pages that do not exist and pages the user may not see. */
export function NotFoundPage() {
  useTitle('Not found')
  return (
    <div className="mx-auto flex max-w-md flex-col items-center gap-2 px-6 py-20 text-center">
      <p className="font-mono text-2xl font-semibold text-faint">404</p>
      <h1 className="text-xl font-semibold tracking-tight">Page not found</h1>
      <p className="text-dim">
        It does not exist, or you have no access to it. The owner of an agent can give you access on its page.
      </p>
      <Link to="/" className={`mt-2 ${buttonLook()}`}>
        Go to the fleet
      </Link>
    </div>
  )
}
