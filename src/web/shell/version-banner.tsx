import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { meQuery } from '../data/queries.ts'

/**
 * The page matches the version it was loaded from. It never reloads on its own, because that would discard typed text.
 */
export function VersionBanner() {
  const version = useQuery(meQuery).data?.version
  const [first, setFirst] = useState(version)
  if (first === undefined && version !== undefined) setFirst(version)
  if (version === undefined || first === undefined || version === first) return null
  return (
    <p role="status" className="border-b border-line bg-sunken px-5 py-1.5 text-center">
      Ralph is {version} now, this page is from {first}.{' '}
      <button type="button" className="font-medium underline underline-offset-2" onClick={() => location.reload()}>
        Reload
      </button>
    </p>
  )
}
