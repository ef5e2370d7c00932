import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Command } from 'cmdk'
import {
  Bot,
  CircleHelp,
  Cpu,
  Inbox,
  Keyboard,
  LayoutList,
  type LucideIcon,
  Play,
  Settings,
  Wallet,
} from 'lucide-react'
import { Dialog } from '@base-ui/react/dialog'
import { agentsQuery, questionsQuery } from '../data/queries.ts'
import { useOpenStart } from './start-target.ts'

type PaletteProps = { readonly onClose: () => void; readonly onHelp: () => void }

/** Everything a user can open or start, by typing. */
export function CommandPalette({ onClose, onHelp }: PaletteProps) {
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-50 bg-[rgb(0_0_0/25%)]" />
        <Dialog.Popup className="fixed inset-x-4 top-[14vh] z-50 mx-auto max-w-xl overflow-hidden rounded-xl border border-line bg-panel shadow-pop outline-none">
          <Dialog.Title className="sr-only">Search and commands</Dialog.Title>
          <Command label="Search and commands" loop>
            <Command.Input
              autoFocus
              placeholder="Go to an agent, a sprint or a question, or run a command…"
              className="h-12 w-full border-b border-line bg-transparent px-4 text-lg outline-none"
            />
            <Command.List className="max-h-[50vh] overflow-y-auto p-1.5">
              <Command.Empty className="px-3 py-6 text-center text-dim">No results</Command.Empty>
              <PaletteCommands onClose={onClose} onHelp={onHelp} />
              <PaletteQuestions onClose={onClose} />
              <PaletteAgents onClose={onClose} />
            </Command.List>
          </Command>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

function PaletteCommands({ onClose, onHelp }: PaletteProps) {
  const navigate = useNavigate()
  const openStart = useOpenStart()
  const go = (to: '/' | '/needs-you' | '/machines' | '/usage' | '/settings') => () => {
    onClose()
    void navigate({ to })
  }
  const start = (): void => {
    onClose()
    openStart()
  }
  return (
    <PaletteSection name="Commands">
      <PaletteEntry icon={Play} name="Start Ralph Mode" onChoose={start} />
      <PaletteEntry icon={LayoutList} name="Fleet" onChoose={go('/')} />
      <PaletteEntry icon={Inbox} name="Needs you" onChoose={go('/needs-you')} />
      <PaletteEntry icon={Cpu} name="Machines" onChoose={go('/machines')} />
      <PaletteEntry icon={Wallet} name="Spend" onChoose={go('/usage')} />
      <PaletteEntry icon={Settings} name="Settings" onChoose={go('/settings')} />
      <PaletteEntry icon={Keyboard} name="Keyboard shortcuts" onChoose={onHelp} />
    </PaletteSection>
  )
}

function PaletteAgents({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate()
  const { data = [] } = useQuery(agentsQuery)
  return (
    <PaletteSection name="Agents">
      {data.map(({ agent, sprint }) => (
        <PaletteEntry
          key={agent.id}
          icon={Bot}
          name={agent.name}
          more={sprint?.goal}
          onChoose={() => {
            onClose()
            if (sprint) void navigate({ to: '/sprints/$sprintId', params: { sprintId: sprint.id } })
            else void navigate({ to: '/agents/$agentId', params: { agentId: agent.id } })
          }}
        />
      ))}
    </PaletteSection>
  )
}

function PaletteQuestions({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate()
  const { data = [] } = useQuery(questionsQuery)
  const open = data.filter(({ status }) => status === 'open')
  if (open.length === 0) return null
  return (
    <PaletteSection name="Questions">
      {open.map(({ id, reason, agentName }) => (
        <PaletteEntry
          key={id}
          icon={CircleHelp}
          name={reason}
          more={agentName}
          onChoose={() => {
            onClose()
            void navigate({ to: '/needs-you', search: { question: id } })
          }}
        />
      ))}
    </PaletteSection>
  )
}

const PaletteSection = ({ name, children }: { name: string; children: React.ReactNode }) => (
  <Command.Group
    heading={name}
    className="[&_[cmdk-group-heading]]:px-2.5 [&_[cmdk-group-heading]]:pt-2 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:text-sm [&_[cmdk-group-heading]]:text-faint"
  >
    {children}
  </Command.Group>
)

type PaletteEntryProps = {
  readonly icon: LucideIcon
  readonly name: string
  readonly more?: string | undefined
  readonly onChoose: () => void
}

const PaletteEntry = ({ icon: Icon, name, more, onChoose }: PaletteEntryProps) => (
  <Command.Item
    value={`${name} ${more ?? ''}`}
    onSelect={onChoose}
    className="flex items-center gap-2.5 rounded-md px-2.5 py-2 data-[selected=true]:bg-sunken"
  >
    <Icon aria-hidden className="size-4 shrink-0 text-faint" />
    <span className="truncate">{name}</span>
    {more !== undefined && <span className="truncate text-faint">{more}</span>}
  </Command.Item>
)
