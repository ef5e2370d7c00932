import { isNotesProtocol } from '../../contract/way.ts'
import { useQuery } from '@tanstack/react-query'
import { Link, useLocation, useParams } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { agentQuery, sprintQuery } from '../data/queries.ts'

const names: Readonly<Record<string, string>> = {
  '/needs-you': 'Needs you',
  '/machines': 'Machines',
  '/usage': 'Spend',
  '/settings': 'Settings',
}

/** Fleet / agent / sprint: the current place, and the way back. */
export function Crumbs() {
  const { pathname } = useLocation()
  const { agentId, sprintId } = useParams({ strict: false })
  const { data: sprint } = useQuery({ ...sprintQuery(sprintId ?? ''), enabled: false })
  const ofAgent = agentId ?? sprint?.agentId
  return (
    <nav aria-label="Where you are" className="flex min-w-0 flex-1 items-center gap-1.5 text-dim">
      <Link to="/" className="hover:text-text" activeOptions={{ exact: true, includeSearch: false }}>
        Fleet
      </Link>
      {names[pathname] !== undefined && <Crumb>{names[pathname]}</Crumb>}
      {ofAgent !== undefined && <AgentCrumb agentId={ofAgent} last={sprintId === undefined} />}
      {sprint && (
        <Crumb>{isNotesProtocol(sprint.protocol) ? 'Ralph Mode' : `Sprint ${sprint.progress.sprintId}`}</Crumb>
      )}
    </nav>
  )
}

function AgentCrumb({ agentId, last }: { agentId: string; last: boolean }) {
  const { data } = useQuery(agentQuery(agentId))
  if (!data) return null
  if (last) return <Crumb>{data.agent.name}</Crumb>
  return (
    <>
      <span aria-hidden>/</span>
      <Link to="/agents/$agentId" params={{ agentId }} className="truncate hover:text-text max-sm:max-w-24">
        {data.agent.name}
      </Link>
    </>
  )
}

const Crumb = ({ children }: { children: ReactNode }) => (
  <>
    <span aria-hidden>/</span>
    <span aria-current="page" className="truncate text-text">
      {children}
    </span>
  </>
)
