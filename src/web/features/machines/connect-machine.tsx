import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../data/api.ts'
import { readBackendTime, useNow } from '../../ui/now.ts'
import { meQuery } from '../../data/queries.ts'
import { useAction } from '../../data/use-action.ts'
import { Button } from '../../ui/button.tsx'
import { CommandLine } from '../../ui/command-line.tsx'
import { Dot } from '../../ui/dot.tsx'
import { formatDurationShort } from '../../../words/durations.ts'

/** Shows the command that connects a machine, and waits until it is connected. `machines`: how many are connected now. */
export function ConnectMachine({ machines }: { machines: number }) {
  const [before] = useState(machines)
  const [token, setToken] = useState<Awaited<ReturnType<typeof api.makeJoinToken>>>()
  const [tokenCreatedAt, setTokenCreatedAt] = useState(0)
  const now = useNow()
  const { data: me } = useQuery(meQuery)
  const make = useAction(api.makeJoinToken, {
    onDone: (made) => {
      setToken(made)
      setTokenCreatedAt(readBackendTime())
    },
  })
  if (machines > before) return <p className="text-ok">Connected in {formatDurationShort(now - tokenCreatedAt)}.</p>
  return (
    <div className="max-w-xl space-y-3 text-left">
      <p className="text-sm text-dim">1. Install Ralph {me?.version} on the machine, the way you installed it here.</p>
      {token ? (
        <>
          <CommandLine label="2. Join (the token works once)" command={`${token.command} --run`} />
          <p role="status" className="flex items-center gap-2 text-dim">
            <Dot tone="info" live /> Waiting for the machine… the token expires in{' '}
            {formatDurationShort(token.expiresAt - now)}.
          </p>
        </>
      ) : (
        <Button kind="primary" disabled={make.busy} onClick={() => make.run({})}>
          Create a join token
        </Button>
      )}
    </div>
  )
}
