import type { InstalledProgram, Machine } from '../../../contract/fleet/machine.ts'
import { knownPrograms } from '../../../words/agent-programs.ts'
import { CommandLine } from '../../ui/command-line.tsx'
import { Dot } from '../../ui/dot.tsx'

/** The agent programs that a newcomer may have: what was found on the machine, and how to get one. */
export function AgentPrograms({ machine }: { machine: Machine }) {
  const found = machine.programs.filter(({ name }) => name !== 'scripted')
  const known = knownPrograms.map((program) => ({ ...program, found: found.find(({ name }) => name === program.name) }))
  const others = found.filter(({ name }) => !knownPrograms.some((program) => program.name === name))
  return (
    <div className="space-y-3">
      <ul className="space-y-1">
        {known.map(({ name, title, found: installed }) => (
          <ProgramLine key={name} title={title} found={installed} />
        ))}
        {others.map((program) => (
          <ProgramLine key={program.name} title={program.name} found={program} />
        ))}
      </ul>
      {found.length === 0 && knownPrograms[0] && (
        <CommandLine label={`Install one, for example ${knownPrograms[0].title}`} command={knownPrograms[0].install} />
      )}
      {found.length === 0 && (
        <details className="text-sm">
          <summary className="text-dim">How to install another one</summary>
          <div className="space-y-2 pt-2">
            {knownPrograms.slice(1).map(({ name, title, install }) => (
              <CommandLine key={name} label={title} command={install} />
            ))}
          </div>
        </details>
      )}
    </div>
  )
}

function ProgramLine({ title, found }: { title: string; found: InstalledProgram | undefined }) {
  const [tone, words] =
    found === undefined
      ? (['quiet', 'not installed'] as const)
      : found.loggedIn === 'no'
        ? (['warn', 'not signed in'] as const)
        : (['ok', 'ready'] as const)
  return (
    <li className="flex items-center gap-2">
      <Dot tone={tone} />
      <span className="flex-1">
        {title} <span className="text-faint">{found?.version}</span>
      </span>
      <span className={tone === 'ok' ? 'text-ok' : 'text-dim'}>{words}</span>
    </li>
  )
}
