import { RalphError } from '../../../contract/errors.ts'
import { createTerminalInterview } from '../../io/terminal-interview.ts'
import { defineCommand } from '../../io/command.ts'
import { displayPath } from '../../io/display-path.ts'
import type { Io } from '../../io/io.ts'
import type { ManagedState } from '../../plugin/managed-file.ts'
import {
  readPluginFiles,
  removePluginFile,
  writePluginFile,
  type PluginFile,
  type PluginScope,
} from '../../plugin/plugin-files.ts'

export const plugin = defineCommand({
  name: 'plugin',
  summary: 'Install the commands for Claude Code, such as /run-sprint',
  arguments: ['<install|remove|list>'],
  options: {
    project: { type: 'boolean', description: 'in .claude of this folder (default)' },
    user: { type: 'boolean', description: 'in .claude of your home folder, for all projects' },
    yes: { type: 'boolean', short: 'y', description: 'do not ask' },
    json: { type: 'boolean', description: 'print the files as JSON; does not ask, needs --yes to change something' },
  },
  details: `Writes the commands of the plugin to .claude/commands and its skill to .claude/skills, so that "/run-sprint <folder>" works as typed.
Asks first. Never overwrites or removes a file that Ralph did not write, or that you edited; those are listed, and install exits with 1.
As a plugin, the same commands are called /ralph-mode:run-sprint and so on.`,
  examples: ['ralph plugin install', 'ralph plugin install --user --yes', 'ralph plugin list', 'ralph plugin remove'],
  async run({ values, positionals: [verb = ''] }, io) {
    const scope = chooseScope(values)
    const files = await readPluginFiles(scope, io)
    if (verb === 'list') return listFiles(files, values.json === true, io)
    const action = actions[verb]
    if (!action) {
      throw new RalphError('USAGE', `plugin: unknown argument "${verb}"`, { hint: 'use install, remove or list' })
    }
    const changes = files.filter(({ state }) => action.changes.has(state))
    const kept = files.filter(({ state }) => state === 'edited' || state === 'foreign')
    if (changes.length > 0 && !(await isConfirmed({ verb, changes }, values, io))) {
      io.printError('cancelled; nothing was changed')
      return 130
    }
    for (const file of changes) await action.apply(file)
    if (values.json === true) io.print(JSON.stringify({ changed: changes.map(toPath), kept: kept.map(toPath) }))
    else for (const line of resultLines(action.done, { changes, kept }, io)) io.print(line)
    return kept.length > 0 && verb === 'install' ? 1 : 0
  },
})

type PluginAction = {
  readonly changes: ReadonlySet<ManagedState>
  readonly apply: (file: PluginFile) => Promise<void>
  readonly done: string
}

const actions: Readonly<Record<string, PluginAction>> = {
  install: { changes: new Set<ManagedState>(['missing', 'outdated']), apply: writePluginFile, done: 'written' },
  remove: { changes: new Set<ManagedState>(['current', 'outdated']), apply: removePluginFile, done: 'removed' },
}

function chooseScope(flags: { readonly project?: boolean; readonly user?: boolean }): PluginScope {
  if (flags.project === true && flags.user === true) {
    throw new RalphError('USAGE', 'plugin: --project and --user exclude each other')
  }
  return flags.user === true ? 'user' : 'project'
}

type PluginChange = { readonly verb: string; readonly changes: readonly PluginFile[] }

async function isConfirmed(
  { verb, changes }: PluginChange,
  { yes, json }: { readonly yes?: boolean; readonly json?: boolean },
  io: Io,
): Promise<boolean> {
  if (yes === true) return true
  if (json === true || !io.canAsk) {
    throw new RalphError('USAGE', `plugin ${verb} asks before it changes ${changes.length} files`, {
      hint: 'run it on a terminal, or add --yes',
    })
  }
  for (const { path } of changes) io.print(`  ${displayPath(path, io)}`)
  const terminal = createTerminalInterview()
  try {
    const question = verb === 'install' ? 'Write these files?' : 'Remove these files?'
    return /^(y|yes|)$/i.test((await terminal.ask(`${question} [Y/n] `))?.trim() ?? 'n')
  } finally {
    terminal.close()
  }
}

type PluginResult = { readonly changes: readonly PluginFile[]; readonly kept: readonly PluginFile[] }

function resultLines(done: string, { changes, kept }: PluginResult, io: Io): string[] {
  const commands = changes.flatMap(({ command }) => command ?? [])
  return [
    ...changes.map(({ path }) => `${displayPath(path, io)} ${done}`),
    ...kept.map(({ path, state }) => `${displayPath(path, io)} kept: ${reasons[state] ?? state}`),
    ...(changes.length === 0 && kept.length === 0 ? ['nothing to do'] : []),
    ...(done === 'written' && commands.length > 0 ? [`type in Claude Code: ${commands.join(' ')}`] : []),
  ]
}

const reasons: Readonly<Partial<Record<ManagedState, string>>> = {
  edited: 'you edited it',
  foreign: 'Ralph did not write it',
}

function listFiles(files: readonly PluginFile[], asJson: boolean, io: Io): number {
  if (asJson) io.print(JSON.stringify(files.map(({ path, command, state }) => ({ path, command, state }))))
  else for (const { path, state } of files) io.print(`${state.padEnd(8)}  ${displayPath(path, io)}`)
  return 0
}

const toPath = ({ path }: PluginFile): string => path
