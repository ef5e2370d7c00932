import { useQuery, useQueryClient } from '@tanstack/react-query'
import { X } from 'lucide-react'
import { useState } from 'react'
import { formatAgo } from '../../../words/durations.ts'
import { api } from '../../data/api.ts'
import { addPasskey } from '../../data/passkey.ts'
import { passkeysQuery, waysToSignInQuery } from '../../data/queries.ts'
import { useAction } from '../../data/use-action.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { TextInput } from '../../ui/field.tsx'
import { useNow } from '../../ui/now.ts'
import { SettingsList, SettingsSection } from './section.tsx'

/** How a user without an identity provider signs in again. Hidden where browsers refuse passkeys. */
export function Passkeys() {
  const cache = useQueryClient()
  const now = useNow()
  const [name, setName] = useState('')
  const { data: ways } = useQuery(waysToSignInQuery)
  const { data: passkeys = [] } = useQuery({ ...passkeysQuery, enabled: ways?.passkeys === true })
  const refresh = (): void => void cache.invalidateQueries({ queryKey: passkeysQuery.queryKey })
  const add = useAction(addPasskey, {
    successToast: 'Passkey added',
    onDone: () => {
      setName('')
      refresh()
    },
  })
  const remove = useAction(api.removePasskey, { onDone: refresh, successToast: 'Passkey removed' })
  if (ways?.passkeys !== true || !('PublicKeyCredential' in window)) return null
  return (
    <SettingsSection title="Passkeys" about="Sign in again without a new invitation.">
      <SettingsList label="Your passkeys">
        {passkeys.map(({ id, name: own, lastUsedAt }) => (
          <li key={id} className="flex items-center gap-3 px-3.5 py-2">
            <span className="min-w-0 flex-1">
              <span className="font-medium">{own}</span>
              <span className="block text-sm text-faint">
                {lastUsedAt === undefined ? 'never used' : `used ${formatAgo(lastUsedAt, now)}`}
              </span>
            </span>
            <IconButton label={`Remove ${own}`} disabled={remove.busy} onClick={() => remove.run({ passkeyId: id })}>
              <X aria-hidden className="size-3.5" />
            </IconButton>
          </li>
        ))}
      </SettingsList>
      <form
        className="flex items-end gap-2"
        onSubmit={(event) => {
          event.preventDefault()
          add.run(name.trim())
        }}
      >
        <TextInput
          label="New passkey"
          value={name}
          placeholder="My laptop"
          className="flex-1"
          onChange={(event) => setName(event.target.value)}
        />
        <Button submit disabled={name.trim() === '' || add.busy}>
          Add a passkey
        </Button>
      </form>
    </SettingsSection>
  )
}
