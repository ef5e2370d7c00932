import { quoteShellWord } from '../../contract/text.ts'
import type { CommandAbout, CommandOption, CommandOptions } from './command.ts'

export type CompletedCommand = CommandAbout & { readonly options: CommandOptions }

export const shells = ['bash', 'zsh', 'fish'] as const
export type CompletionShell = (typeof shells)[number]

type CompletionTable = { readonly commands: readonly CompletedCommand[]; readonly agents: readonly string[] }

/** Completes what follows the options or the command name. */
type CompletionKind = 'sprint' | 'folder' | 'file' | 'agent' | 'shell' | 'nothing'

/** The completion script of a shell. It is self-contained, so that pressing Tab starts no Ralph process. */
export function completionScript(shell: CompletionShell, table: CompletionTable): string {
  return { bash: bashScript, zsh: zshScript, fish: fishScript }[shell](table)
}

function valueCompletionKind(name: string, { value = '' }: CommandOption): CompletionKind {
  if (name === 'agent') return 'agent'
  if (value.startsWith('DIR')) return 'folder'
  return value.startsWith('FILE') ? 'file' : 'nothing'
}

function argumentCompletionKind({ arguments: [first = ''] = [] }: CommandAbout): CompletionKind {
  if (first.includes('sprint-dir')) return 'sprint'
  if (first.includes('shell')) return 'shell'
  return first === '' || /text|name|answer/.test(first) ? 'nothing' : 'file'
}

const listFlags = (name: string, { short }: CommandOption): string[] => [`--${name}`, ...(short ? [`-${short}`] : [])]

const takesValue = ({ type }: CommandOption): boolean => type === 'string'

function bashScript({ commands, agents }: CompletionTable): string {
  const names = [...commands.map(({ name }) => name), 'help', '--help', '--version']
  const cases = commands.map((about) => {
    const options = Object.entries(about.options)
    const values = options
      .filter(([, option]) => takesValue(option))
      .map(([name, option]) => `${listFlags(name, option).join('|')}) kind=${valueCompletionKind(name, option)} ;;`)
    return [
      `    ${about.name})`,
      `      flags=${quoteShellWord(options.flatMap(([name, option]) => listFlags(name, option)).join(' '))}`,
      `      kind=${argumentCompletionKind(about)}`,
      ...(values.length > 0
        ? ['      case "$prev" in', ...values.map((value) => `        ${value}`), '      esac']
        : []),
      '      ;;',
    ].join('\n')
  })
  return `# Completion of ralph for bash. Load it with: eval "$(ralph completion bash)"
_ralph() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}" flags='' kind=nothing
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
      COMPREPLY=($(compgen -d -- "$cur") $(compgen -d -- ".claude/sprints/$cur"))
      ;;
    folder) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -d -- "$cur")) ;;
    file) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$cur")) ;;
    agent) IFS=$' \\t\\n'; COMPREPLY=($(compgen -W ${quoteShellWord(agents.join(' '))} -- "$cur")) ;;
    shell) IFS=$' \\t\\n'; COMPREPLY=($(compgen -W ${quoteShellWord(shells.join(' '))} -- "$cur")) ;;
  esac
}
complete -F _ralph ralph
`
}

/** Escapes text inside the brackets of an `_arguments` specification. */
const escapeZshSpec = (text: string): string => text.replaceAll(/[[\]:\\]/g, (character) => `\\${character}`)

function zshScript({ commands, agents }: CompletionTable): string {
  const actions: Readonly<Record<CompletionKind, string>> = {
    sprint: '_ralph_sprints',
    folder: '_files -/',
    file: '_files',
    agent: `(${agents.map((name) => name.replaceAll(':', String.raw`\:`)).join(' ')})`,
    shell: `(${shells.join(' ')})`,
    nothing: ' ',
  }
  const optionSpec = ([name, option]: readonly [string, CommandOption]) =>
    listFlags(name, option).map((flag) => {
      const takes = takesValue(option)
        ? `:${escapeZshSpec(option.value ?? 'VALUE')}:${actions[valueCompletionKind(name, option)]}`
        : ''
      return quoteShellWord(
        `${flag}${takes !== '' && flag.startsWith('--') ? '=' : ''}[${escapeZshSpec(option.description)}]${takes}`,
      )
    })
  const cases = commands.map((about) => {
    const rest = quoteShellWord(
      `*:${escapeZshSpec(about.arguments?.[0] ?? 'argument')}:${actions[argumentCompletionKind(about)]}`,
    )
    const specs = [...Object.entries(about.options).flatMap(optionSpec), ...(about.arguments ? [rest] : [])]
    return `    ${about.name})\n      _arguments \\\n        ${specs.join(' \\\n        ')}\n      ;;`
  })
  const described = commands.map(({ name, summary }) => `    ${quoteShellWord(`${name}:${escapeZshSpec(summary)}`)}`)
  return `#compdef ralph
# Completion of ralph for zsh. Load it with: eval "$(ralph completion zsh)"
_ralph_sprints() {
  _alternative 'sprints:sprint:_path_files -W .claude/sprints -/ -P .claude/sprints/' 'folders:folder:_files -/'
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
  const actions: Readonly<Record<CompletionKind, string>> = {
    sprint: ` -a ${fishQuoted('(__fish_complete_directories (commandline -ct)) (printf "%s\\n" .claude/sprints/*/)')}`,
    folder: ` -a ${fishQuoted('(__fish_complete_directories (commandline -ct))')}`,
    file: ' -F',
    agent: ` -a ${fishQuoted(agents.join(' '))}`,
    shell: ` -a ${fishQuoted(shells.join(' '))}`,
    nothing: '',
  }
  const lines = commands.flatMap((about) => {
    const within = `complete -c ralph -n ${fishQuoted(`__fish_seen_subcommand_from ${about.name}`)}`
    const options = Object.entries(about.options).map(([name, option]) => {
      const short = option.short ? ` -s ${option.short}` : ''
      const takes = takesValue(option) ? ` -r${actions[valueCompletionKind(name, option)]}` : ''
      return `${within} -l ${name}${short}${takes} -d ${fishQuoted(option.description)}`
    })
    const action = actions[argumentCompletionKind(about)]
    return [
      `complete -c ralph -n __fish_use_subcommand -a ${about.name} -d ${fishQuoted(about.summary)}`,
      ...options,
      ...(action === '' ? [] : [`${within}${action}`]),
    ]
  })
  return [
    '# Completion of ralph for fish. Load it with: ralph completion fish | source',
    'complete -c ralph -f',
    ...lines,
    '',
  ].join('\n')
}
