import { expect, it } from 'vitest'
import { compileTest } from '../../../test/support/compile.ts'
import { knownAgents } from './known-agents.ts'

const isKnown = (agent: string) =>
  compileTest(`workflow: ralph\ngoal: g\nagent: ${agent}\n`, {}, { agents: knownAgents }).diagnostics.map(
    ({ code, message, hint, place }) => `${place?.line}:${place?.column} ${code} ${message} (${hint})`,
  )

it.each(['claude', 'acp:gemini', '"command:./my-agent --flag"', 'command:my-agent', '[codex, "acp: my-agent"]'])(
  'SPRINT.yaml may name %s',
  (agent) => {
    expect(isKnown(agent)).toEqual([])
  },
)

it.each([
  ['cluade', '3:8 AGENT_UNKNOWN There is no agent "cluade" (did you mean "claude"?)'],
  ['[claude, codx]', '3:17 AGENT_UNKNOWN There is no agent "codx" (did you mean "codex"?)'],
  [
    'comand:./x',
    expect.stringMatching(/^3:8 AGENT_UNKNOWN .*known agents: claude, .*acp:<program>, command:<program>/),
  ],
  [`'command:./x "y'`, expect.stringMatching(/^3:8 AGENT_UNKNOWN/)],
  ['command', expect.stringMatching(/^3:8 AGENT_UNKNOWN/)],
])('SPRINT.yaml may not name %s', (agent, diagnostic) => {
  expect(isKnown(agent)).toEqual([diagnostic])
})
