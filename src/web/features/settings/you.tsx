import { useQuery, useQueryClient } from '@tanstack/react-query'
import { X } from 'lucide-react'
import { useState } from 'react'
import type { Me } from '../../../contract/fleet/user.ts'
import { api, describeError } from '../../data/api.ts'
import { useNow } from '../../ui/now.ts'
import { unsubscribeFromPush } from '../../data/push.ts'
import { tokensQuery } from '../../data/queries.ts'
import { useAction } from '../../data/use-action.ts'
import { Tag } from '../../ui/badge.tsx'
import { Button, IconButton } from '../../ui/button.tsx'
import { CommandLine } from '../../ui/command-line.tsx'
import { TextInput, Select } from '../../ui/field.tsx'
import { Passkeys } from './passkeys.tsx'
import { SettingsList, SettingsSection } from './section.tsx'
import { ProblemNotice, SkeletonRows } from '../../ui/states.tsx'
import { formatAgo, formatAge } from '../../../words/durations.ts'

const signInWays = {
  local: 'the user of this computer, without an account',
  oidc: 'signed in with your organisation',
  passkey: 'signed in with a passkey',
  token: 'signed in with a token',
} as const

/** A browser without a user must not show what the user's agents ask. */
const signOut: typeof api.signOut = async (...call) => {
  await unsubscribeFromPush().catch(() => undefined)
  return api.signOut(...call)
}

export function You({ me }: { me: Me }) {
  const out = useAction(signOut, { onDone: () => location.assign('/sign-in') })
  return (
    <div className="divide-y divide-line">
      <SettingsSection title="Account" about={`You are ${signInWays[me.signedInBy]}.`}>
        <div className="flex items-center gap-4">
          <span className="min-w-0 flex-1">
            <span className="font-semibold">{me.user.name}</span> {me.user.role === 'admin' && <Tag>admin</Tag>}
            <span className="block truncate text-dim">{me.user.email}</span>
          </span>
          {me.signedInBy !== 'local' && (
            <Button disabled={out.busy} onClick={() => out.run({})}>
              Sign out
            </Button>
          )}
        </div>
      </SettingsSection>
      <Passkeys />
      <Tokens />
    </div>
  )
}

function Tokens() {
  const cache = useQueryClient()
  const now = useNow()
  const tokens = useQuery(tokensQuery)
  const refresh = (): void => void cache.invalidateQueries({ queryKey: tokensQuery.queryKey })
  const revoke = useAction(api.revokeToken, { onDone: refresh })
  const [shown, setShown] = useState<string>()
  return (
    <SettingsSection title="API tokens" about="For scripts and CI, which act in your name.">
      {tokens.isPending && <SkeletonRows rows={1} height="h-12" />}
      {tokens.isLoadingError && (
        <ProblemNotice {...describeError(tokens.error)} onRetry={() => void tokens.refetch()} />
      )}
      <SettingsList label="Your tokens">
        {tokens.data?.map(({ id, name, scope, expiresAt, lastUsedAt }) => (
          <li key={id} className="flex items-center gap-3 px-3.5 py-2">
            <span className="min-w-0 flex-1">
              <span className="font-medium">{name}</span> <Tag>{scope}</Tag>
              <span className="block text-sm text-faint">
                {expiresAt > now ? `expires in ${formatAge(expiresAt - now)}` : 'ended'} ·{' '}
                {lastUsedAt === undefined ? 'never used' : `used ${formatAgo(lastUsedAt, now)}`}
              </span>
            </span>
            <IconButton label={`Revoke ${name}`} disabled={revoke.busy} onClick={() => revoke.run({ tokenId: id })}>
              <X aria-hidden className="size-3.5" />
            </IconButton>
          </li>
        ))}
      </SettingsList>
      {shown !== undefined && <CommandLine label="Shown only once" command={shown} />}
      <NewTokenForm
        onMade={(token) => {
          setShown(token)
          refresh()
        }}
      />
    </SettingsSection>
  )
}

const scopes = [
  { value: 'read', label: 'reads' },
  { value: 'write', label: 'view and steer' },
  { value: 'admin', label: 'everything' },
] as const

function NewTokenForm({ onMade }: { onMade: (token: string) => void }) {
  const [name, setName] = useState('')
  const [scope, setScope] = useState<'read' | 'write' | 'admin'>('write')
  const make = useAction(api.makeToken, {
    onDone: ({ token }) => {
      setName('')
      onMade(token)
    },
  })
  return (
    <form
      className="flex items-end gap-2 max-sm:flex-wrap"
      onSubmit={(event) => {
        event.preventDefault()
        make.run({ name, scope, days: 90 })
      }}
    >
      <TextInput
        label="Token name"
        value={name}
        placeholder="ci"
        className="flex-1"
        onChange={(event) => setName(event.target.value)}
      />
      <Select
        label="Scope"
        value={scope}
        options={scopes}
        onChoose={(value) => setScope(scopes.find((option) => option.value === value)?.value ?? 'read')}
        className="w-40"
      />
      <Button submit disabled={name.trim() === '' || make.busy}>
        Create a token for 90 days
      </Button>
    </form>
  )
}
