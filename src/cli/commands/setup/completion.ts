import { drivers } from '../../../agents/drivers/registry.ts'
import { RalphError } from '../../../contract/errors.ts'
import { findNearestWord } from '../../../contract/text.ts'
import { defineCommand, type CliCommand } from '../../io/command.ts'
import { completionScript, shells } from '../../io/shell-completion.ts'

type CompletionEntry = { readonly load: () => Promise<CliCommand> }

/** Takes the command table, which includes this command. Loads every command; no other command does that. */
export const completionFor = (table: Readonly<Record<string, CompletionEntry>>): CliCommand =>
  defineCommand({
    name: 'completion',
    summary: 'Print a shell completion script',
    arguments: ['<shell>'],
    options: { json: { type: 'boolean', description: 'print {shell, script} as JSON' } },
    details: `Supports bash, zsh and fish, and completes commands, options, sprint folders and agents. The script is self-contained; Tab starts no program.`,
    examples: [
      'eval "$(ralph completion bash)"              # in ~/.bashrc',
      'eval "$(ralph completion zsh)"               # in ~/.zshrc, after compinit',
      'ralph completion fish | source               # in ~/.config/fish/config.fish',
    ],
    async run({ values, positionals: [shellArgument = ''] }, io) {
      const shell = shells.find((name) => name === shellArgument)
      if (!shell) throw unknownShell(shellArgument)
      const commands = await Promise.all(Object.values(table).map(async ({ load }) => (await load()).about))
      const script = completionScript(shell, { commands, agents: [...drivers.keys()] })
      io.print(values.json === true ? JSON.stringify({ shell, script }) : script.trimEnd())
      return 0
    },
  })

function unknownShell(shell: string): RalphError {
  const suggestion = findNearestWord(shell, shells)
  return new RalphError('USAGE', `completion: unknown shell "${shell}"`, {
    hint: `${suggestion ? `did you mean ${suggestion}? ` : ''}shells: ${shells.join(', ')}`,
  })
}
