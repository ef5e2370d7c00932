import { useQuery, useQueryClient } from '@tanstack/react-query'
import { X } from 'lucide-react'
import { useState } from 'react'
import { WebhookEvent } from '../../../contract/fleet/webhook.ts'
import { api, describeError } from '../../data/api.ts'
import { webhooksQuery } from '../../data/queries.ts'
import { useAction } from '../../data/use-action.ts'
import { Tag } from '../../ui/badge.tsx'
import { Button, IconButton } from '../../ui/button.tsx'
import { CommandLine } from '../../ui/command-line.tsx'
import { TextInput } from '../../ui/field.tsx'
import { ProblemNotice, SkeletonRows } from '../../ui/states.tsx'
import { eventWords } from './event-words.ts'
import { SettingsList, SettingsSection } from './section.tsx'

/** Addresses that receive signed notifications. */
export function Webhooks() {
  const cache = useQueryClient()
  const webhooks = useQuery(webhooksQuery)
  const refresh = { onDone: () => void cache.invalidateQueries({ queryKey: webhooksQuery.queryKey }) }
  const change = useAction(api.changeWebhook, refresh)
  const test = useAction(api.testWebhook, { successToast: 'Test sent; its outcome is under Deliveries' })
  const remove = useAction(api.deleteWebhook, refresh)
  if (webhooks.isPending) return <SkeletonRows rows={2} height="h-14" />
  if (webhooks.isLoadingError)
    return <ProblemNotice {...describeError(webhooks.error)} onRetry={() => void webhooks.refetch()} />
  return (
    <div className="divide-y divide-line">
      <SettingsSection title="Webhooks" about="Notify chat, pagers and CI when a sprint asks, ends or fails.">
        {webhooks.data.length === 0 && <p className="text-dim">No webhooks yet</p>}
        <SettingsList label="Webhooks">
          {webhooks.data.map(({ id: webhookId, url, events, enabled }) => (
            <li key={webhookId} className="flex flex-wrap items-center gap-3 px-3.5 py-2">
              <span className="min-w-0 flex-1 basis-60">
                <span className="block truncate font-mono text-sm">{url}</span>
                <span className="mt-0.5 flex flex-wrap gap-1">
                  {events.map((event) => (
                    <Tag key={event}>{eventWords[event]}</Tag>
                  ))}
                </span>
              </span>
              <Button size="small" disabled={!enabled || test.busy} onClick={() => test.run({ webhookId })}>
                Send a test
              </Button>
              <Button size="small" disabled={change.busy} onClick={() => change.run({ webhookId, enabled: !enabled })}>
                {enabled ? 'Disable' : 'Enable'}
              </Button>
              <IconButton label={`Delete ${url}`} disabled={remove.busy} onClick={() => remove.run({ webhookId })}>
                <X aria-hidden className="size-3.5" />
              </IconButton>
            </li>
          ))}
        </SettingsList>
      </SettingsSection>
      <SettingsSection title="New webhook" about="Each notification is signed; the key is shown once.">
        <NewWebhookForm onMade={refresh.onDone} />
      </SettingsSection>
    </div>
  )
}

function NewWebhookForm({ onMade }: { onMade: () => void }) {
  const [url, setUrl] = useState('')
  const [events, setEvents] = useState<readonly WebhookEvent[]>(['needs-human', 'failed', 'completed'])
  const [secret, setSecret] = useState<string>()
  const make = useAction(api.makeWebhook, {
    onDone: (made) => {
      setUrl('')
      setSecret(made.secret)
      onMade()
    },
  })
  const toggle = (event: WebhookEvent): void =>
    setEvents(events.includes(event) ? events.filter((other) => other !== event) : [...events, event])
  return (
    <form
      className="space-y-2.5"
      onSubmit={(event) => {
        event.preventDefault()
        make.run({ url, events: [...events] })
      }}
    >
      <TextInput
        label="Address"
        type="url"
        value={url}
        placeholder="https://…"
        onChange={(event) => setUrl(event.target.value)}
      />
      <div className="grid grid-cols-[repeat(auto-fill,minmax(8.5rem,1fr))] gap-x-4 gap-y-1.5">
        {WebhookEvent.options.map((event) => (
          <label key={event} className="flex items-center gap-1.5">
            <input
              type="checkbox"
              className="accent-accent"
              checked={events.includes(event)}
              onChange={() => toggle(event)}
            />{' '}
            {eventWords[event]}
          </label>
        ))}
      </div>
      <Button submit disabled={url.trim() === '' || events.length === 0 || make.busy}>
        Add webhook
      </Button>
      {secret !== undefined && <CommandLine label="Signing secret; shown only once" command={secret} />}
    </form>
  )
}
