import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { meQuery } from '../data/queries.ts'
import { Audit } from '../features/settings/audit.tsx'
import { Deliveries } from '../features/settings/deliveries.tsx'
import { PeopleSettings } from '../features/settings/people.tsx'
import { Webhooks } from '../features/settings/webhooks.tsx'
import { You } from '../features/settings/you.tsx'
import { useTitle } from '../shell/title.ts'
import { Card } from '../ui/card.tsx'
import { Skeleton } from '../ui/states.tsx'
import { Tabs } from '../ui/tabs.tsx'

const route = getRouteApi('/settings')

export function SettingsPage() {
  useTitle('Settings')
  const { tab = 'you' } = route.useSearch()
  const navigate = route.useNavigate()
  const me = useQuery(meQuery)
  if (!me.data) return <Skeleton className="h-64 rounded-[10px]" />
  const admin = me.data.user.role === 'admin'
  const tabs = [
    { key: 'you', label: 'You' },
    { key: 'people', label: 'People' },
    ...(admin
      ? [
          { key: 'webhooks', label: 'Webhooks' } as const,
          { key: 'deliveries', label: 'Deliveries' } as const,
          { key: 'audit', label: 'Audit' } as const,
        ]
      : []),
  ] as const
  return (
    <>
      <h1 className="mb-3.5 flex min-h-7.5 items-center text-xl font-semibold tracking-tight">Settings</h1>
      <Card>
        <Tabs
          tabs={tabs}
          value={tab}
          onChange={(next) => void navigate({ search: { tab: next }, replace: true, resetScroll: false })}
          label="Settings"
        >
          {tab === 'you' && <You me={me.data} />}
          {tab === 'people' && <PeopleSettings admin={admin} myId={me.data.user.id} />}
          {tab === 'webhooks' && <Webhooks />}
          {tab === 'deliveries' && <Deliveries />}
          {tab === 'audit' && <Audit />}
        </Tabs>
      </Card>
      <p className="mt-3 text-center text-sm text-faint">Ralph {me.data.version}</p>
    </>
  )
}
