import { Ellipsis, TriangleAlert } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import type { Machine, InstalledProgram } from '../../../contract/fleet/machine.ts'
import { api } from '../../data/api.ts'
import { useNow } from '../../ui/now.ts'
import { useAction } from '../../data/use-action.ts'
import { Badge, Tag } from '../../ui/badge.tsx'
import { UsageBar } from '../../ui/bar.tsx'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Dialog, DialogBody, DialogFoot } from '../../ui/dialog.tsx'
import { Dot } from '../../ui/dot.tsx'
import { Menu } from '../../ui/menu.tsx'
import { Ago } from '../../ui/moment.tsx'
import type { Tone } from '../../../words/tone.ts'
import { formatBytes } from '../../../words/counts.ts'
import { formatAge } from '../../../words/durations.ts'

const tones: Readonly<Record<Machine['status'], Tone>> = {
  pending: 'warn',
  active: 'ok',
  cordoned: 'quiet',
  draining: 'warn',
  revoked: 'bad',
}

export const MachineCard = ({ machine, admin }: { machine: Machine; admin: boolean }) => (
  <Card label={machine.name}>
    <div className="flex items-center gap-2 border-b border-line px-3.5 py-2">
      <Dot tone={machine.reachable ? 'ok' : 'bad'} label={machine.reachable ? 'answers' : 'not responding'} />
      <h2 className="font-semibold">{machine.name}</h2>
      {machine.local && <Tag>this computer</Tag>}
      {machine.shared === true && <Tag>shared with other users</Tag>}
      {machine.labels.map((label) => (
        <Tag key={label}>{label}</Tag>
      ))}
      <span className="ml-auto flex items-center gap-2">
        {machine.status !== 'active' && <Badge tone={tones[machine.status]}>{machine.status}</Badge>}
        {admin && !machine.local && <MachineActions machine={machine} />}
      </span>
    </div>
    {machine.alarm !== undefined && (
      <p className="flex items-center gap-2 border-b border-line bg-bad-bg px-3.5 py-1.5 text-bad">
        <TriangleAlert aria-hidden className="size-3.5" /> {machine.alarm}
      </p>
    )}
    <MachineFacts machine={machine} />
    <ul className="divide-y divide-line border-t border-line">
      {machine.programs.map((program) => (
        <ProgramRow key={program.name} program={program} />
      ))}
      {machine.programs.length === 0 && (
        <li className="px-3.5 py-2 text-dim">No agent program found on this machine.</li>
      )}
    </ul>
  </Card>
)

function MachineFacts({ machine }: { machine: Machine }) {
  const now = useNow()
  const { certificate, diskFreeBytes, clockSkewMs } = machine
  return (
    <dl className="grid grid-cols-2 gap-x-6 gap-y-1 max-sm:grid-cols-1 px-3.5 py-2.5">
      <MachineFactItem name="last seen">
        {machine.lastSeenAt === undefined ? 'never' : <Ago at={machine.lastSeenAt} />}
      </MachineFactItem>
      <MachineFactItem name="running">
        {machine.running} of {machine.slots}{' '}
        <UsageBar
          part={machine.running / Math.max(1, machine.slots)}
          label={`${machine.running} of ${machine.slots} slots`}
          className="ml-1 w-10"
        />
      </MachineFactItem>
      <MachineFactItem name="version">
        {[machine.version, machine.platform].filter(Boolean).join(' · ') || 'unknown'}
      </MachineFactItem>
      <MachineFactItem name="disk free">
        <span className={diskFreeBytes !== undefined && diskFreeBytes < 5e9 ? 'text-bad' : undefined}>
          {diskFreeBytes === undefined ? 'unknown' : formatBytes(diskFreeBytes)}
        </span>
      </MachineFactItem>
      {certificate && (
        <MachineFactItem name="certificate">
          <span title={certificate.serial}>
            {certificate.expiresAt > now ? `expires in ${formatAge(certificate.expiresAt - now)}` : 'expired'}
          </span>
        </MachineFactItem>
      )}
      {clockSkewMs !== undefined && Math.abs(clockSkewMs) > 2000 && (
        <MachineFactItem name="clock">{formatAge(Math.abs(clockSkewMs))} off</MachineFactItem>
      )}
    </dl>
  )
}

const MachineFactItem = ({ name, children }: { name: string; children: ReactNode }) => (
  <div className="flex justify-between gap-3">
    <dt className="text-dim">{name}</dt>
    <dd className="flex items-center truncate">{children}</dd>
  </div>
)

const ProgramRow = ({ program }: { program: InstalledProgram }) => (
  <li className="flex items-center gap-2 px-3.5 py-1.5">
    <Dot tone={program.problem === undefined ? 'ok' : 'warn'} />
    <span className="font-medium">{program.name}</span>
    <span className="text-faint">{program.version}</span>
    <span className="ml-auto truncate text-sm text-dim">
      {program.problem ?? (program.loggedIn === 'yes' ? 'signed in' : 'sign-in unknown')}
    </span>
  </li>
)

function MachineActions({ machine }: { machine: Machine }) {
  const [asking, setAsking] = useState(false)
  const change = useAction(api.changeMachine)
  const revoke = useAction(api.revokeMachine, {
    successToast: `${machine.name} is revoked`,
    onDone: () => setAsking(false),
  })
  const machineId = machine.id
  const entries = [
    ...(machine.status === 'pending'
      ? [{ label: 'Approve', hint: 'May take work', onChoose: () => change.run({ machineId, status: 'active' }) }]
      : []),
    ...(machine.status === 'active'
      ? [
          {
            label: 'Cordon',
            hint: 'Starts no new work',
            onChoose: () => change.run({ machineId, status: 'cordoned' }),
          },
          {
            label: 'Drain',
            hint: 'Finishes running work and starts no new work',
            onChoose: () => change.run({ machineId, status: 'draining' }),
          },
        ]
      : []),
    ...(machine.status === 'cordoned' || machine.status === 'draining'
      ? [{ label: 'Free', hint: 'Accepts work again', onChoose: () => change.run({ machineId, status: 'active' }) }]
      : []),
    {
      label: 'Revoke…',
      hint: 'Revokes its certificate; it cannot reconnect',
      danger: true,
      onChoose: () => setAsking(true),
    },
  ]
  if (machine.status === 'revoked') return null
  return (
    <>
      <Menu size="icon" kind="ghost" label={`More about ${machine.name}`} entries={entries}>
        <Ellipsis aria-hidden className="size-4" />
      </Menu>
      <Dialog open={asking} onClose={() => setAsking(false)} title={`Revoke ${machine.name}?`}>
        <DialogBody>
          <p>
            This closes its connection and revokes its certificate. The state of work running there becomes unknown. To
            reconnect, it has to join with a new token.
          </p>
        </DialogBody>
        <DialogFoot>
          <Button onClick={() => setAsking(false)}>Cancel</Button>
          <Button kind="danger" disabled={revoke.busy} onClick={() => revoke.run({ machineId })}>
            Revoke
          </Button>
        </DialogFoot>
      </Dialog>
    </>
  )
}
