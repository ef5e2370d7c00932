import { quoteShellWord } from '../../contract/text.ts'
import type { CommandAbout, CommandOption, CommandOptions } from './command.ts'

export type CompletedCommand = CommandAbout & { readonly options: CommandOptions }

export const shells = ['bash', 'zsh', 'fish'] as const
export type CompletionShell = (typeof shells)[number]

type CompletionTable = { readonly commands: readonly CompletedCommand[]; readonly agents: readonly string[] }

/** Completes what follows the options or the command name: one of a list of words, or what a shell can find. */
type Completion = 'sprint' | 'folder' | 'file' | 'nothing' | readonly string[]

/** The completion script of a shell. It is self-contained, so that pressing Tab starts no Ralph process. */
export function completionScript(shell: CompletionShell, table: CompletionTable): string {
  return { bash: bashScript, zsh: zshScript, fish: fishScript }[shell](table)
}

function completeValue(name: string, { value = '' }: CommandOption, agents: readonly string[]): Completion {
  if (name === 'agent') return agents
  if (value.startsWith('DIR')) return 'folder'
  return value.startsWith('FILE') ? 'file' : 'nothing'
}

/** Such as `<list|remove>`; files may follow. */
const hasSubcommands = (argument = ''): boolean => argument.includes('|')

function completeArgument({ arguments: [first = ''] = [] }: CommandAbout): Completion {
  if (first.startsWith('[sprint')) return 'sprint'
  if (first.includes('shell')) return shells
  if (hasSubcommands(first)) return first.replaceAll(/[[\]<>]/g, '').split('|')
  return first === '' || /text|name|answer/.test(first) ? 'nothing' : 'file'
}

const listFlags = (name: string, { short }: CommandOption): string[] => [`--${name}`, ...(short ? [`-${short}`] : [])]

const takesValue = ({ type }: CommandOption): boolean => type === 'string'

const isWords = (completion: Completion): completion is readonly string[] => typeof completion !== 'string'

const bashKind = (completion: Completion): string =>
  isWords(completion) ? `kind=words words=${quoteShellWord(completion.join(' '))}` : `kind=${completion}`

function bashScript({ commands, agents }: CompletionTable): string {
  const names = [...commands.map(({ name }) => name), 'help', '--help', '--version']
  const cases = commands.map((about) => {
    const options = Object.entries(about.options)
    const values = options
      .filter(([, option]) => takesValue(option))
      .map(
        ([name, option]) => `${listFlags(name, option).join('|')}) ${bashKind(completeValue(name, option, agents))} ;;`,
      )
    return [
      `    ${about.name})`,
      `      flags=${quoteShellWord(options.flatMap(([name, option]) => listFlags(name, option)).join(' '))}`,
      `      ${bashKind(completeArgument(about))}`,
      ...(hasSubcommands(about.arguments?.[0]) ? ['      [ "$COMP_CWORD" -gt 2 ] && kind=file'] : []),
      ...(values.length > 0
        ? ['      case "$prev" in', ...values.map((value) => `        ${value}`), '      esac']
        : []),
      '      ;;',
    ].join('\n')
  })
  return `# Completion of ralph for bash. Load it with: eval "$(ralph completion bash)"
_ralph() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}" flags='' kind=nothing words=''
  local IFS=$' \\t\\n'
  COMPREPLY=()
  if [ "$COMP_CWORD" -le 1 ] || { [ "$COMP_CWORD" -eq 2 ] && [ "$prev" = help ]; }; then
    COMPREPLY=($(compgen -W ${quoteShellWord(names.join(' '))} -- "$cur"))
    return
  fi
  case "\${COMP_WORDS[1]}" in
${cases.join('\n')}
  esac
  if [ "\${cur#-}" != "$cur" ]; then
    COMPREPLY=($(compgen -W "$flags" -- "$cur"))
    return
  fi
  IFS=$'\\n'
  case "$kind" in
    sprint)
      compopt -o filenames 2>/dev/null
      COMPREPLY=($(compgen -W "$(ls .claude/sprints 2>/dev/null | sed -n 's/^[0-9]\\{4\\}-[0-9][0-9]-[0-9][0-9]_//p' | sort -u)" -- "$cur") $(compgen -d -- "$cur") $(compgen -d -- ".claude/sprints/$cur"))
      ;;
    folder) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -d -- "$cur")) ;;
    file) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$cur")) ;;
    words) IFS=$' \\t\\n'; COMPREPLY=($(compgen -W "$words" -- "$cur")) ;;
  esac
}
complete -F _ralph ralph
`
}

/** Escapes text inside the brackets of an `_arguments` specification. */
const escapeZshSpec = (text: string): string => text.replaceAll(/[[\]:\\]/g, (character) => `\\${character}`)

function zshScript({ commands, agents }: CompletionTable): string {
  const actions = { sprint: '_ralph_sprints', folder: '_files -/', file: '_files', nothing: ' ' }
  const action = (completion: Completion): string =>
    isWords(completion)
      ? `(${completion.map((word) => word.replaceAll(':', String.raw`\:`)).join(' ')})`
      : actions[completion]
  const optionSpec = ([name, option]: readonly [string, CommandOption]) =>
    listFlags(name, option).map((flag) => {
      const takes = takesValue(option)
        ? `:${escapeZshSpec(option.value ?? 'VALUE')}:${action(completeValue(name, option, agents))}`
        : ''
      return quoteShellWord(
        `${flag}${takes !== '' && flag.startsWith('--') ? '=' : ''}[${escapeZshSpec(option.description)}]${takes}`,
      )
    })
  const cases = commands.map((about) => {
    const [first = 'argument'] = about.arguments ?? []
    const place = hasSubcommands(first) ? '1' : '*'
    const rest = quoteShellWord(`${place}:${escapeZshSpec(first)}:${action(completeArgument(about))}`)
    const files = hasSubcommands(first) ? [quoteShellWord('*:file:_files')] : []
    const specs = [...Object.entries(about.options).flatMap(optionSpec), ...(about.arguments ? [rest, ...files] : [])]
    return `    ${about.name})\n      _arguments \\\n        ${specs.join(' \\\n        ')}\n      ;;`
  })
  const described = commands.map(({ name, summary }) => `    ${quoteShellWord(`${name}:${escapeZshSpec(summary)}`)}`)
  return `#compdef ralph
# Completion of ralph for zsh. Load it with: eval "$(ralph completion zsh)"
_ralph_sprints() {
  local -a names
  names=(\${\${(f)"$(ls .claude/sprints 2>/dev/null)"}#[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]_})
  (( $#names )) && _wanted sprints expl sprint compadd -a names
  _files -/
}
_ralph() {
  local -a commands
  commands=(
${described.join('\n')}
  )
  if (( CURRENT == 2 )) || [[ $words[2] == help ]]; then
    _describe 'command' commands
    return
  fi
  local name=$words[2]
  shift words
  (( CURRENT-- ))
  case $name in
${cases.join('\n')}
  esac
}
if [ "$funcstack[1]" = "_ralph" ]; then _ralph "$@"; else compdef _ralph ralph; fi
`
}

const fishQuoted = (words: string): string => `'${words.replaceAll(/['\\]/g, (character) => `\\${character}`)}'`

function fishScript({ commands, agents }: CompletionTable): string {
  const actions = {
    sprint: ` -a ${fishQuoted('(ls .claude/sprints 2>/dev/null | string replace -r "^\\\\d{4}-\\\\d\\\\d-\\\\d\\\\d_" "") (__fish_complete_directories (commandline -ct))')}`,
    folder: ` -a ${fishQuoted('(__fish_complete_directories (commandline -ct))')}`,
    file: ' -F',
    nothing: '',
  }
  const action = (completion: Completion): string =>
    isWords(completion) ? ` -a ${fishQuoted(completion.join(' '))}` : actions[completion]
  const lines = commands.flatMap((about) => {
    const within = `complete -c ralph -n ${fishQuoted(`__fish_seen_subcommand_from ${about.name}`)}`
    const options = Object.entries(about.options).map(([name, option]) => {
      const short = option.short ? ` -s ${option.short}` : ''
      const takes = takesValue(option) ? ` -r${action(completeValue(name, option, agents))}` : ''
      return `${within} -l ${name}${short}${takes} -d ${fishQuoted(option.description)}`
    })
    const rest = `${action(completeArgument(about))}${hasSubcommands(about.arguments?.[0]) ? ' -F' : ''}`
    return [
      `complete -c ralph -n __fish_use_subcommand -a ${about.name} -d ${fishQuoted(about.summary)}`,
      ...options,
      ...(rest === '' ? [] : [`${within}${rest}`]),
    ]
  })
  return [
    '# Completion of ralph for fish. Load it with: ralph completion fish | source',
    'complete -c ralph -f',
    ...lines,
    '',
  ].join('\n')
}
