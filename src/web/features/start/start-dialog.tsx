import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import type { FleetRow } from '../../../contract/fleet/agent.ts'
import { agentQuery, agentsQuery, checksQuery, estimateQuery, machinesQuery } from '../../data/queries.ts'
import { Kbd } from '../../ui/badge.tsx'
import { commandKey } from '../../words/command-key.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogBody, DialogFoot } from '../../ui/dialog.tsx'
import { Textarea } from '../../ui/field.tsx'
import { ChecksField } from './checks-field.tsx'
import {
  type Draft,
  deleteDraft,
  emptyDraft,
  describeEstimate,
  saveDraft,
  loadDraft,
  newAgent,
  validateDraft,
  describeStart,
  describeStartLimits,
} from './draft.ts'
import { describePlace } from './place.ts'
import { LimitsFields } from './limits-fields.tsx'
import { ProgramFields } from './program-fields.tsx'
import { ProtocolChoice } from './protocol-choice.tsx'
import { useStart } from './use-start.ts'
import { WhereFields } from './where-fields.tsx'

/** `agentId`: an agent, `any`, or undefined when it is closed. */
export function StartDialog({ agentId, onClose }: { agentId: string | undefined; onClose: () => void }) {
  const [initialAgentId, setInitialAgentId] = useState(agentId ?? 'any')
  if (agentId !== undefined && agentId !== initialAgentId) setInitialAgentId(agentId)
  return (
    <Dialog
      open={agentId !== undefined}
      onClose={onClose}
      title="Start Ralph Mode"
      description="The agent works on the task in a loop, each time with a fresh context, until its checks pass."
      width="sm:max-w-2xl"
    >
      <StartForm key={initialAgentId} initialAgentId={initialAgentId} onClose={onClose} />
    </Dialog>
  )
}

/**
 * Drafts are stored on every change, so closing loses nothing but the agent: an unattended agent must never start in
 * the workspace of an earlier draft. Without any agent there is only one choice, a new one.
 */
function useDraft(agentId: string) {
  const [draft, setDraft] = useState(() => ({ ...loadDraft(), agentId: agentId === 'any' ? '' : agentId }))
  useEffect(() => saveDraft(draft), [draft])
  const agents = useQuery(agentsQuery)
  // Known at once on the agent's own page, where the whole fleet may not be loaded yet.
  const onScreen = useQuery({ ...agentQuery(agentId), enabled: agentId !== 'any' && agentId !== newAgent })
  const rows = agents.data ?? (onScreen.data ? [onScreen.data] : [])
  const only = agents.isSuccess && rows.length === 0
  useEffect(() => {
    if (only) setDraft((before) => (before.agentId === '' ? { ...before, agentId: newAgent } : before))
  }, [only])
  const change = (part: Partial<Draft>): void => setDraft((before) => ({ ...before, ...part }))
  return { draft, change, rows, row: rows.find(({ agent }) => agent.id === draft.agentId) }
}

function StartForm({ initialAgentId, onClose }: { initialAgentId: string; onClose: () => void }) {
  const navigate = useNavigate()
  const { draft, change, rows, row } = useDraft(initialAgentId)
  const [tried, setTried] = useState(false)
  const known = { enabled: row !== undefined && row.machine.reachable }
  const { data: detected } = useQuery({ ...checksQuery(draft.agentId), ...known })
  const { data: estimate } = useQuery({ ...estimateQuery(draft.agentId), ...known })
  const { data: machines = [] } = useQuery(machinesQuery)
  const problems = validateDraft(draft)
  const busy = row !== undefined && (row.agent.state === 'running' || row.sprint?.status === 'in-progress')
  const start = useStart((sprintId) => {
    deleteDraft()
    change({ ...emptyDraft, agentId: draft.agentId })
    onClose()
    void navigate({ to: '/sprints/$sprintId', params: { sprintId } })
  })
  const submit = (): void => {
    setTried(true)
    if (Object.keys(problems).length === 0 && !start.busy) start.run({ draft, detected, busy })
  }
  const shown = tried ? problems : {}
  const place = describePlace(draft, row, machines)
  const words = estimate && describeEstimate(estimate, draft)
  return (
    <div
      className="flex min-h-0 flex-1 flex-col"
      onKeyDown={(event) => event.key === 'Enter' && (event.metaKey || event.ctrlKey) && submit()}
    >
      <DialogBody>
        <Textarea
          label="Task"
          rows={3}
          autoFocus
          value={draft.task}
          onChange={(event) => change({ task: event.target.value })}
          placeholder="What should be true when it is done? Name files, commands, limits."
          problem={shown.task}
        />
        <ProtocolChoice value={draft.protocol} onChange={(protocol) => change({ protocol })} />
        <ChecksField draft={draft} detected={detected} change={change} />
        <OpenQuestionNotice row={row} />
        <WhereFields draft={draft} change={change} problems={shown} rows={rows} busy={busy} />
        <ProgramFields draft={draft} change={change} row={row} making={draft.agentId === newAgent} />
        <LimitsFields draft={draft} change={change} problems={shown} />
      </DialogBody>
      <DialogFoot>
        <p className="min-w-0 basis-full text-sm text-dim">
          {words ?? 'No history of this agent yet, so no estimate.'}
        </p>
        <StartButton words={describeStart(draft, busy, place)} draft={draft} busy={start.busy} onClick={submit} />
        <span className="max-sm:hidden">
          <Kbd>{commandKey}↵</Kbd>
        </span>
      </DialogFoot>
    </div>
  )
}

type StartButtonProps = {
  readonly words: string
  readonly draft: Draft
  readonly busy: boolean
  readonly onClick: () => void
}

const StartButton = ({ words, draft, busy, onClick }: StartButtonProps) => (
  <Button
    kind="primary"
    disabled={busy}
    onClick={onClick}
    className="h-auto max-w-full min-w-0 flex-1 flex-col gap-0 py-1.5 text-center wrap-anywhere whitespace-normal!"
  >
    <span>{words}</span>
    <span className="text-sm font-normal">{describeStartLimits(draft)}</span>
  </Button>
)

const OpenQuestionNotice = ({ row }: { row: FleetRow | undefined }) =>
  row?.sprint?.question && (
    <p role="status" className="rounded-md bg-warn-bg px-3 py-2 text-warn">
      {row.agent.name} is waiting for an answer to “{row.sprint.question.reason}”. A new run leaves that question open.
    </p>
  )
