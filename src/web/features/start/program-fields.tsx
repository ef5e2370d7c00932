import { useQuery } from '@tanstack/react-query'
import { CircleCheck, CircleX } from 'lucide-react'
import type { FleetRow } from '../../../contract/fleet/agent.ts'
import type { Preflight } from '../../../contract/fleet/machine.ts'
import { describeError } from '../../data/api.ts'
import { useNow } from '../../ui/now.ts'
import { machinesQuery, preflightQuery } from '../../data/queries.ts'
import { TextInput, Select } from '../../ui/field.tsx'
import { formatBytes } from '../../../words/counts.ts'
import { formatTimeOfDay } from '../../words/time-of-day.ts'
import type { Draft } from './draft.ts'

type ProgramFieldsProps = {
  readonly draft: Draft
  readonly change: (part: Partial<Draft>) => void
  readonly row: FleetRow | undefined
  readonly making: boolean
}

/** The agent program, whether it can start now, and what it may do. */
export function ProgramFields({ draft, change, row, making }: ProgramFieldsProps) {
  const { data: machines = [] } = useQuery(machinesQuery)
  const machineId = making ? draft.machineId : row?.machine.id
  const machine = machines.find(({ id }) => id === machineId)
  const program = draft.program === '' ? (row?.agent.program ?? machine?.programs[0]?.name ?? '') : draft.program
  const names = [
    ...new Set([
      ...(machine?.programs ?? machines.flatMap(({ programs }) => programs)).map(({ name }) => name),
      ...(program === '' ? [] : [program]),
    ]),
  ]
  const preflight = useQuery({
    ...preflightQuery(machineId ?? '', program),
    enabled: machine !== undefined && machine.reachable && program !== '',
  })
  return (
    <div>
      <div className="grid grid-cols-2 gap-3 max-sm:grid-cols-1">
        <Select
          label="Agent program"
          value={program}
          options={names.map((name) => ({ value: name, label: name }))}
          onChoose={(value) => change({ program: value })}
        />
        <TextInput
          label="Model"
          value={draft.model}
          placeholder={row?.agent.model ?? 'Default model'}
          onChange={(event) => change({ model: event.target.value })}
        />
      </div>
      {machine && !machine.reachable && (
        <PreflightLine bad>{machine.name} is not responding; the sprint starts when it is back.</PreflightLine>
      )}
      {preflight.isLoadingError && (
        <PreflightLine bad>
          Cannot tell whether it would start there: {describeError(preflight.error).title.toLowerCase()}.
        </PreflightLine>
      )}
      {preflight.data && <PreflightLines preflight={preflight.data} machine={machine?.name ?? ''} />}
    </div>
  )
}

function PreflightLines({
  preflight: { program, limitUntil, diskFreeBytes, runsAs, sandbox, policy },
  machine,
}: {
  preflight: Preflight
  machine: string
}) {
  const now = useNow()
  const problem = program.problem ?? (program.loggedIn === 'no' ? 'not signed in' : undefined)
  return (
    <>
      <PreflightLine bad={problem !== undefined}>
        {problem === undefined
          ? `${program.name} ${program.version ?? ''} installed${program.loggedIn === 'yes' ? ' and signed in' : ''}${diskFreeBytes === undefined ? '' : `; ${formatBytes(diskFreeBytes)} free on the disk`}`
          : `${program.name}: ${problem}`}
      </PreflightLine>
      {limitUntil !== undefined && (
        <PreflightLine bad>
          Its account has reached its usage limit until {formatTimeOfDay(limitUntil, now)}; the sprint waits until then.
        </PreflightLine>
      )}
      <p className="mt-1 text-sm text-dim">
        Runs unattended: the agent can read, change and run anything
        {runsAs === undefined ? '' : ` that user “${runsAs}” can`} on {machine}
        {sandbox === undefined ? '' : `, inside ${sandbox}`}.
      </p>
      {policy && (
        <details className="mt-1 text-sm text-dim">
          <summary>The owner of {machine} limits it (machine.yaml)</summary>
          <ul className="font-mono">
            {policy.map((line) => (
              <li key={line}>{line}</li>
            ))}
          </ul>
        </details>
      )}
    </>
  )
}

const PreflightLine = ({ bad = false, children }: { bad?: boolean; children: React.ReactNode }) => (
  <p className={`mt-1.5 flex items-start gap-1.5 text-sm ${bad ? 'text-bad' : 'text-dim'}`}>
    {bad ? (
      <CircleX aria-label="Problem" className="mt-0.5 size-3.5 shrink-0" />
    ) : (
      <CircleCheck aria-hidden className="mt-0.5 size-3.5 shrink-0 text-ok" />
    )}
    <span>{children}</span>
  </p>
)
