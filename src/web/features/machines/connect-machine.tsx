import { useState } from 'react'
import { api } from '../../data/api.ts'
import { useNow } from '../../ui/now.ts'
import { useAction } from '../../data/use-action.ts'
import { Button } from '../../ui/button.tsx'
import { CommandLine } from '../../ui/command-line.tsx'
import { Dot } from '../../ui/dot.tsx'
import { formatDurationShort } from '../../../words/durations.ts'

/** Shows the commands that connect a machine, and waits until it is connected. */
export function ConnectMachine({ machines }: { machines: number }) {
  const [before] = useState(machines)
  const [token, setToken] = useState<Awaited<ReturnType<typeof api.makeJoinToken>>>()
  const [asked, setAsked] = useState(0)
  const now = useNow()
  const make = useAction(api.makeJoinToken, {
    onDone: (made) => {
      setToken(made)
      setAsked(Date.now())
    },
  })
  if (machines > before) return <p className="text-ok">Connected in {formatDurationShort(now - asked)}.</p>
  return (
    <div className="mx-auto max-w-xl space-y-3 text-left">
      <CommandLine label="1. On the machine, once" command="npm install --global ralph-mode" />
      {token ? (
        <>
          <CommandLine label="2. Join (the token works once)" command={token.command} />
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
