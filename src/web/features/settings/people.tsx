import { useQuery, useQueryClient } from '@tanstack/react-query'
import { api, describeError } from '../../data/api.ts'
import { usersQuery } from '../../data/queries.ts'
import { useAction } from '../../data/use-action.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Select } from '../../ui/field.tsx'
import { ProblemNotice, SkeletonRows } from '../../ui/states.tsx'
import { SettingsList, SettingsSection } from './section.tsx'

const roles = [
  { value: 'member', label: 'member' },
  { value: 'admin', label: 'admin' },
] as const

export function PeopleSettings({ admin, myId }: { admin: boolean; myId: string }) {
  const cache = useQueryClient()
  const users = useQuery(usersQuery)
  const change = useAction(api.changeUser, {
    onDone: () => void cache.invalidateQueries({ queryKey: usersQuery.queryKey }),
  })
  if (users.isPending) return <SkeletonRows rows={3} height="h-12" />
  if (users.isLoadingError)
    return <ProblemNotice {...describeError(users.error)} onRetry={() => void users.refetch()} />
  return (
    <SettingsSection title="People" about="Users who may sign in. Access to an agent is on the agent's page.">
      <SettingsList label="Users">
        {users.data.map(({ id: userId, name, email, role, disabledAt }) => (
          <li key={userId} className="flex items-center gap-3 px-3.5 py-2">
            <span className="min-w-0 flex-1">
              <span className="font-medium">{name}</span>{' '}
              {disabledAt !== undefined && <Badge tone="bad">disabled</Badge>}
              <span className="block truncate text-sm text-faint">{email}</span>
            </span>
            {admin && userId !== myId ? (
              <>
                <Select
                  label={`Role of ${name}`}
                  hideLabel
                  className="w-28"
                  value={role}
                  options={roles}
                  onChoose={(value) => change.run({ userId, role: value === 'admin' ? 'admin' : 'member' })}
                />
                <Button
                  disabled={change.busy}
                  onClick={() => change.run({ userId, disabled: disabledAt === undefined })}
                >
                  {disabledAt === undefined ? 'Disable' : 'Enable'}
                </Button>
              </>
            ) : (
              <span className="text-dim">{role}</span>
            )}
          </li>
        ))}
      </SettingsList>
    </SettingsSection>
  )
}
