import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Play } from 'lucide-react'
import type { ReactNode } from 'react'
import type { FleetRow } from '../../../contract/fleet/agent.ts'
import { api } from '../../data/api.ts'
import { machinesQuery, meQuery } from '../../data/queries.ts'
import { useAction } from '../../data/use-action.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { ConnectMachine } from '../machines/connect-machine.tsx'
import { loadDraft, saveDraft } from '../start/draft.ts'
import { AgentPrograms } from './agent-programs.tsx'

/** What a newcomer sees before the first sprint: what Ralph does, a demo, the agents here, and one task to try. */
export function FirstScreen({ rows }: { rows: readonly FleetRow[] }) {
  const machines = useQuery(machinesQuery)
  const { data: me } = useQuery(meQuery)
  if (machines.isPending) return null
  const admin = me?.user.role === 'admin'
  const machine = machines.data?.find(({ reachable }) => reachable)
  return (
    <Card label="Getting started" className="mb-4">
      <div className="border-b border-line px-6 py-6 max-sm:px-4">
        <h2 className="max-w-3xl text-2xl leading-8 font-semibold tracking-tight">
          Ralph runs a coding agent on your task again and again until checks that Ralph itself runs prove it is done.
        </h2>
        <p className="mt-2 max-w-3xl text-lg text-dim">
          Each iteration starts with a fresh context. Lies and cheats are refused, usage limits are waited out, and you
          are asked only when a person must decide.
        </p>
      </div>
      <div
        className={
          machine && 'grid grid-cols-3 divide-x divide-line max-lg:grid-cols-1 max-lg:divide-x-0 max-lg:divide-y'
        }
      >
        {me?.demo === true && admin && <DemoPart />}
        <FirstPart title={machine ? `Agents on ${machine.name}` : 'Connect a machine'}>
          {machine && <AgentPrograms machine={machine} />}
          {!machine && <p className="mb-3 text-dim">Agents run on your machines. A machine needs no open port.</p>}
          {!machine && (admin ? <ConnectMachine machines={0} /> : 'An admin can connect one.')}
        </FirstPart>
        {machine && <TaskPart rows={rows} />}
      </div>
    </Card>
  )
}

const FirstPart = ({ title, children }: { title: string; children: ReactNode }) => (
  <section className="min-w-0 px-6 py-5 max-sm:px-4">
    <h3 className="mb-2 font-semibold">{title}</h3>
    {children}
  </section>
)

function DemoPart() {
  const navigate = useNavigate()
  const demo = useAction(api.startDemo, {
    onDone: ({ sprintId }) => void navigate({ to: '/sprints/$sprintId', params: { sprintId } }),
  })
  return (
    <FirstPart title="Watch a demo">
      <p className="mb-3 text-dim">
        A scripted agent repairs a small library. It lies once and cheats once, and you see how Ralph refuses both. No
        agent, no key; about a minute, in <code className="font-mono text-sm">~/ralph-demo</code>.
      </p>
      <Button kind="primary" disabled={demo.busy} onClick={() => demo.run({})}>
        <Play aria-hidden className="size-3.5" /> {demo.busy ? 'Starting…' : 'Run the demo sprint'}
      </Button>
    </FirstPart>
  )
}

const exampleTask =
  'Find the function with the fewest tests, write the tests that it lacks, and repair what they show. All tests pass, and none that exists is changed.'

function TaskPart({ rows }: { rows: readonly FleetRow[] }) {
  const navigate = useNavigate()
  const ready = rows.find(({ agent, access }) => agent.state === 'idle' && access !== 'read')
  const use = (): void => {
    saveDraft({ ...loadDraft(), task: exampleTask })
    void navigate({ to: '/', search: { start: ready?.agent.id ?? 'any' } })
  }
  return (
    <FirstPart title={ready ? `Try a task on ${ready.agent.name}` : 'Try a task'}>
      <blockquote className="mb-3 border-s-2 border-line-strong ps-3 text-dim">{exampleTask}</blockquote>
      <Button onClick={use}>Use this task</Button>
      <p className="mt-3 text-sm text-faint">
        A sprint that you start with <code className="font-mono">ralph run</code> in this folder appears here too.
      </p>
    </FirstPart>
  )
}
