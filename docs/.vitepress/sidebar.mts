/** The path through the docs. A test finds pages that are missing here. */
export const sidebar = [
  section('Start', {
    'Why Ralph Mode': 'start/why',
    Install: 'start/install',
    'Your first sprint': 'start/first-sprint',
  }),
  section('Guides', {
    'Goals and checks': 'guides/goals-and-checks',
    'Write a SPRINT.yaml': 'guides/sprint-yaml',
    'Watch and steer a sprint': 'guides/watch',
    'Run overnight': 'guides/overnight',
    'Budgets and limits': 'guides/budgets',
    'Choose an agent': 'guides/agents',
    'Review by a second agent': 'guides/review',
    'Commit, merge, open a pull request': 'guides/pull-requests',
    'Run in CI': 'guides/ci',
    'Phases and parallel work': 'guides/phases',
    'Claude Code and MCP': 'guides/assistants',
    'The web page': 'guides/page',
    'A fleet in ten minutes': 'guides/fleet',
    'Operate a fleet': 'guides/operations',
    Security: 'guides/security',
    Troubleshooting: 'guides/troubleshooting',
    'Coming from m42 or Ariana': 'guides/migrate',
    'Compared with others': 'guides/comparison',
  }),
  section('Concepts', {
    'The loop': 'concepts/loop',
    Proof: 'concepts/proof',
    'The cell': 'concepts/cell',
    'Ralph mode': 'concepts/ralph-mode',
    'Ways of working': 'concepts/ways',
    Recovery: 'concepts/recovery',
    'State and files': 'concepts/state',
    Machines: 'concepts/machines',
  }),
  section('Reference', {
    'Command line': 'reference/cli',
    'SPRINT.yaml': 'reference/sprint-yaml',
    Workflows: 'reference/workflow',
    'PROGRESS.yaml': 'reference/progress-yaml',
    Errors: 'reference/errors',
    'HTTP API': 'reference/api',
    Metrics: 'reference/metrics',
  }),
  section('Contribute', {
    Architecture: 'contribute/architecture',
    'Add a driver': 'contribute/new-driver',
    'Add a kind of check': 'contribute/new-check-kind',
    'Add a channel': 'contribute/new-channel',
    'Add a cell': 'contribute/new-cell',
    'Conformance suite': 'contribute/conformance',
    'Cheats refused': 'conformance-cheats',
    'Escapes tried': 'escapes',
    Benchmarks: 'benchmarks',
    'Planted defects': 'planted',
    'Seed documents': 'seeds',
    Voice: 'contribute/voice',
    'Before and after': 'contribute/sentences',
    Decisions: 'decisions/index',
  }),
]

function section(text: string, pages: Readonly<Record<string, string>>) {
  const [first, ...rest] = Object.entries(pages).map(([title, page]) => ({ text: title, link: `/${page}` }))
  if (!first) throw new Error(`${text} has no pages`)
  const items: [typeof first, ...typeof rest] = [first, ...rest]
  return { text, items }
}
