import type { Command } from './io/command.ts'

type Entry = { readonly summary: string; readonly load: () => Promise<Command> }

/** Every command. Each is loaded only when it is called, so that the others cost nothing. */
export const commands: Readonly<Record<string, Entry>> = {
  init: {
    summary: 'Make a sprint folder with a commented SPRINT.yaml',
    load: async () => (await import('./commands/init.ts')).init,
  },
  compile: {
    summary: 'Check SPRINT.yaml and its workflow, write PROGRESS.yaml',
    load: async () => (await import('./commands/compile.ts')).compileCommand,
  },
  validate: {
    summary: 'Check a workflow file by itself',
    load: async () => (await import('./commands/validate.ts')).validate,
  },
  run: { summary: 'Run a sprint until its goal is reached', load: async () => (await import('./commands/run.ts')).run },
  status: { summary: 'Show where sprints stand', load: async () => (await import('./commands/status.ts')).status },
  watch: {
    summary: 'Watch a sprint that runs in another terminal',
    load: async () => (await import('./commands/watch.ts')).watch,
  },
  logs: {
    summary: 'Show what the agent said and did, iteration by iteration',
    load: async () => (await import('./commands/logs.ts')).logs,
  },
  report: {
    summary: 'Write what a sprint did as one HTML page, or as Markdown',
    load: async () => (await import('./commands/report.ts')).report,
  },
  answer: {
    summary: 'Answer the question a sprint waits for',
    load: async () => (await import('./commands/answer.ts')).answer,
  },
  resume: {
    summary: 'Go on with a sprint (the same as run)',
    load: async () => (await import('./commands/run.ts')).resume,
  },
  pause: { summary: 'Pause a running sprint', load: async () => (await import('./commands/stop.ts')).pause },
  stop: { summary: 'Stop a running sprint', load: async () => (await import('./commands/stop.ts')).stop },
  tell: { summary: 'Tell the agent something', load: async () => (await import('./commands/tell.ts')).tell },
  diff: {
    summary: 'Show what an iteration, or the whole sprint, has changed',
    load: async () => (await import('./commands/diff.ts')).diff,
  },
  restore: {
    summary: 'Put the files back to what they were after an iteration',
    load: async () => (await import('./commands/restore.ts')).restore,
  },
  prompt: {
    summary: 'Print the prompt that would be sent next',
    load: async () => (await import('./commands/prompt.ts')).prompt,
  },
  agents: {
    summary: 'Show which agents are installed and tested, and try one',
    load: async () => (await import('./commands/agents.ts')).agents,
  },
  doctor: {
    summary: 'Examine this machine, and a sprint; repair what can be repaired safely',
    load: async () => (await import('./commands/doctor.ts')).doctor,
  },
  transcript: {
    summary: 'Show what an agent said and did, from its recorded output',
    load: async () => (await import('./commands/transcript.ts')).transcript,
  },
  mcp: {
    summary: 'Offer sprints to an assistant as an MCP server, on stdin and stdout',
    load: async () => (await import('./commands/mcp.ts')).mcp,
  },
  serve: {
    summary: 'Run the backend: the page, the API, and a machine for agents on this computer',
    load: async () => (await import('./commands/serve.ts')).serve,
  },
  'agents-server': {
    summary: 'Make this computer a machine of a fleet: join a backend, then take work from it',
    load: async () => (await import('./commands/agents-server.ts')).agentsServer,
  },
  machine: {
    summary: 'Let machines join the backend, and say what they may do',
    load: async () => (await import('./commands/machine.ts')).machine,
  },
  completion: {
    summary: 'Print the completion script of a shell',
    load: async () => (await import('./commands/completion.ts')).completionFor(commands),
  },
  demo: {
    summary: 'Watch a sprint on a sample project, offline, without an agent or a key',
    load: async () => (await import('./commands/demo.ts')).demo,
  },
}
