import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { AccessLevel } from '../../../contract/fleet/user.ts'
import { api, describeError } from '../../data/api.ts'
import { accessQuery, usersQuery } from '../../data/queries.ts'
import { useAction } from '../../data/use-action.ts'
import { Select } from '../../ui/field.tsx'
import { ProblemNotice, SkeletonRows } from '../../ui/states.tsx'

const levels = [
  { value: 'none', label: 'no access' },
  { value: 'read', label: 'reads' },
  { value: 'write', label: 'view and steer' },
  { value: 'owner', label: 'owns' },
] as const

const isLevel = (value: string): value is AccessLevel => value === 'read' || value === 'write' || value === 'owner'

/** Who may do what with this agent. */
export function AccessList({ agentId }: { agentId: string }) {
  const cache = useQueryClient()
  const access = useQuery(accessQuery(agentId))
  const users = useQuery(usersQuery)
  const give = useAction(api.giveAccess, {
    onDone: ({ items }) => cache.setQueryData(accessQuery(agentId).queryKey, items),
  })
  if (access.isPending || users.isPending) return <SkeletonRows rows={2} height="h-12" />
  if (access.isLoadingError || users.isLoadingError)
    return <ProblemNotice {...describeError(access.error ?? users.error)} onRetry={() => void access.refetch()} />
  return (
    <ul className="divide-y divide-line">
      {users.data.map(({ id, name, email, role }) => (
        <li key={id} className="flex items-center gap-4 px-3.5 py-2">
          <span className="min-w-0 flex-1">
            <span className="block font-medium">{name}</span>
            <span className="block text-sm text-faint">
              {[email, role === 'admin' ? 'admin: full access' : undefined].filter(Boolean).join(' · ')}
            </span>
          </span>
          <Select
            label={`Access of ${name}`}
            hideLabel
            className="w-40"
            disabled={give.busy}
            value={access.data.find(({ userId }) => userId === id)?.level ?? 'none'}
            options={levels}
            onChoose={(value) => give.run({ agentId, userId: id, level: isLevel(value) ? value : null })}
          />
        </li>
      ))}
    </ul>
  )
}
