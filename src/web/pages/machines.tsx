import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { describeError } from '../data/api.ts'
import { machinesQuery, meQuery } from '../data/queries.ts'
import { ConnectMachine } from '../features/machines/connect-machine.tsx'
import { MachineCard } from '../features/machines/machine-card.tsx'
import { useTitle } from '../shell/title.ts'
import { Button } from '../ui/button.tsx'
import { Card } from '../ui/card.tsx'
import { Dialog, DialogBody } from '../ui/dialog.tsx'
import { EmptyState, ProblemNotice, Skeleton } from '../ui/states.tsx'

/** The computers that run agents. */
export function MachinesPage() {
  useTitle('Machines')
  const machines = useQuery(machinesQuery)
  const me = useQuery(meQuery)
  const [connecting, setConnecting] = useState(false)
  const admin = me.data?.user.role === 'admin'
  if (machines.isPending) return <Skeleton className="h-48 rounded-[10px]" />
  if (machines.isLoadingError)
    return (
      <Card>
        <ProblemNotice {...describeError(machines.error)} onRetry={() => void machines.refetch()} />
      </Card>
    )
  return (
    <>
      <div className="mb-3.5 flex items-center">
        <h1 className="flex-1 text-xl font-semibold tracking-tight">Machines</h1>
        {admin && (
          <Button kind="primary" onClick={() => setConnecting(true)}>
            Connect a machine
          </Button>
        )}
      </div>
      {machines.data.length === 0 && (
        <Card>
          <EmptyState title="No machines yet">
            {admin ? <ConnectMachine machines={0} /> : 'An admin can connect one.'}
          </EmptyState>
        </Card>
      )}
      <div className="grid grid-cols-[repeat(auto-fill,minmax(min(100%,400px),1fr))] gap-3.5">
        {machines.data.map((machine) => (
          <MachineCard key={machine.id} machine={machine} admin={admin} />
        ))}
      </div>
      <Dialog
        open={connecting}
        onClose={() => setConnecting(false)}
        title="Connect a machine"
        description="It connects to this backend and needs no open port."
      >
        <DialogBody>
          <ConnectMachine machines={machines.data.filter(({ reachable }) => reachable).length} />
        </DialogBody>
      </Dialog>
    </>
  )
}
