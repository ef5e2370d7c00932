import { useState } from 'react'
import { api } from '../../data/api.ts'
import { useNow } from '../../ui/now.ts'
import { useAction } from '../../data/use-action.ts'
import { Button } from '../../ui/button.tsx'
import { CommandLine } from '../../ui/command-line.tsx'
import { Dot } from '../../ui/dot.tsx'
import { duration } from '../../words/numbers.ts'

/** The two commands that connect a machine, and a wait that ends by itself when it is there. */
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
  if (machines > before) return <p className="text-ok">Connected in {duration(now - asked)}.</p>
  return (
    <div className="mx-auto max-w-xl space-y-3 text-left">
      <CommandLine label="1. On the machine, once" command="npm install --global ralph-mode" />
      {token ? (
        <>
          <CommandLine label="2. Join; the token works once" command={token.command} />
          <p role="status" className="flex items-center gap-2 text-dim">
            <Dot tone="info" live /> Listening for the machine… the token ends in {duration(token.expiresAt - now)}.
          </p>
        </>
      ) : (
        <Button kind="primary" disabled={make.busy} onClick={() => make.run({})}>
          Make a join token
        </Button>
      )}
    </div>
  )
}
