import type { CliCommand } from './io/command.ts'

type CommandEntry = {
  /** Begins a group in `ralph --help`. */
  readonly heading?: string
  readonly summary: string
  readonly load: () => Promise<CliCommand>
}

/** Every command. Each is loaded only when called, which keeps the start fast. */
export const commands: Readonly<Record<string, CommandEntry>> = {
  run: {
    heading: 'Run',
    summary: 'Run a sprint until its goal is reached',
    load: async () => (await import('./commands/run.ts')).run,
  },
  init: {
    summary: 'Create a sprint folder with a commented SPRINT.yaml',
    load: async () => (await import('./commands/setup/init.ts')).init,
  },
  'follow-up': {
    summary: 'Continue from a finished sprint with a new goal',
    load: async () => (await import('./commands/follow-up.ts')).followUp,
  },
  resume: {
    summary: 'Resume a sprint (same as run)',
    load: async () => (await import('./commands/run.ts')).resume,
  },
  demo: {
    summary: 'Watch a sprint on a sample project: offline, no agent, no API key',
    load: async () => (await import('./commands/setup/demo.ts')).demo,
  },
  list: {
    heading: 'See what happens',
    summary: 'List the sprints of this project',
    load: async () => (await import('./commands/status.ts')).list,
  },
  status: { summary: 'Show the status of sprints', load: async () => (await import('./commands/status.ts')).status },
  watch: {
    summary: 'Watch a sprint that runs in the background or in another terminal',
    load: async () => (await import('./commands/watch.ts')).watch,
  },
  logs: {
    summary: 'Show what the agent said and did in each iteration',
    load: async () => (await import('./commands/logs.ts')).logs,
  },
  diff: {
    summary: 'Show the changes of an iteration or of the whole sprint',
    load: async () => (await import('./commands/diff.ts')).diff,
  },
  report: {
    summary: 'Write a report of a sprint as one HTML page or as Markdown',
    load: async () => (await import('./commands/report.ts')).report,
  },
  prompt: {
    summary: 'Print the next prompt',
    load: async () => (await import('./commands/prompt.ts')).prompt,
  },
  transcript: {
    summary: 'Show what an agent said and did, from a recorded transcript',
    load: async () => (await import('./commands/transcript.ts')).transcript,
  },
  answer: {
    heading: 'Answer and steer',
    summary: 'Answer the open question of a sprint',
    load: async () => (await import('./commands/answer.ts')).answer,
  },
  tell: { summary: 'Send the agent a message', load: async () => (await import('./commands/tell.ts')).tell },
  pause: { summary: 'Pause a running sprint', load: async () => (await import('./commands/stop.ts')).pause },
  stop: { summary: 'Stop a running sprint', load: async () => (await import('./commands/stop.ts')).stop },
  finish: {
    heading: 'Keep or undo the work',
    summary: 'Turn the work of a sprint into a commit, a branch or the text of a pull request',
    load: async () => (await import('./commands/finish.ts')).finish,
  },
  restore: {
    summary: 'Restore the files to their state after an iteration',
    load: async () => (await import('./commands/restore.ts')).restore,
  },
  prune: {
    summary: 'Remove old transcripts and checkpoints of a sprint',
    load: async () => (await import('./commands/prune.ts')).prune,
  },
  agents: {
    heading: 'Set up',
    summary: 'List installed agents and try one',
    load: async () => (await import('./commands/setup/agents.ts')).agents,
  },
  doctor: {
    summary: 'Check this machine or a sprint, and repair what is safe to repair',
    load: async () => (await import('./commands/doctor.ts')).doctor,
  },
  checks: {
    summary: 'List held-out checks, and move tests out of the reach of agents',
    load: async () => (await import('./commands/checks.ts')).checks,
  },
  compile: {
    summary: 'Check SPRINT.yaml and its workflow, and write PROGRESS.yaml',
    load: async () => (await import('./commands/compile.ts')).compileCommand,
  },
  validate: {
    summary: 'Check a workflow file',
    load: async () => (await import('./commands/validate.ts')).validate,
  },
  migrate: {
    summary: 'Take over the sprints and workflows of m42-sprint',
    load: async () => (await import('./migrate/migrate.ts')).migrate,
  },
  plugin: {
    summary: 'Install the commands for Claude Code, such as /run-sprint',
    load: async () => (await import('./commands/setup/plugin.ts')).plugin,
  },
  mcp: {
    summary: 'Serve sprints to an assistant as an MCP server on stdin and stdout',
    load: async () => (await import('./commands/setup/mcp.ts')).mcp,
  },
  completion: {
    summary: 'Print a shell completion script',
    load: async () => (await import('./commands/setup/completion.ts')).completionFor(commands),
  },
  serve: {
    heading: 'Many machines',
    summary: 'Run the backend: the page, the API, and agents on this computer',
    load: async () => (await import('./commands/fleet/serve.ts')).serve,
  },
  backup: {
    summary: 'Back up the database of the backend, check a backup, or restore one',
    load: async () => (await import('./commands/fleet/backup.ts')).backup,
  },
  'agents-server': {
    summary: 'Connect this computer to a backend and run its work',
    load: async () => (await import('./commands/fleet/agents-server.ts')).agentsServer,
  },
  machine: {
    summary: 'Connect, approve and manage machines',
    load: async () => (await import('./commands/fleet/machine.ts')).machine,
  },
  user: {
    summary: 'Invite users, and list them',
    load: async () => (await import('./commands/fleet/user.ts')).user,
  },
  budget: {
    summary: 'Cap the spend of a fleet, a user or a label per day or month',
    load: async () => (await import('./commands/fleet/budget.ts')).budget,
  },
}
