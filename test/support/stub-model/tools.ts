import type { ToolCall } from './dialect.ts'
import type { Call } from './turn.ts'

type Write = Extract<Call, { write: string }>

const writers: Readonly<Record<string, (call: Write) => ToolCall['input']>> = {
  Write: ({ write, content }) => ({ file_path: write, content }),
  write_file: ({ write, content }) => ({ file_path: write, content }),
  write: ({ write, content }) => ({ filePath: write, content }),
  apply_patch: ({ write, content }) => `*** Begin Patch\n*** Add File: ${write}\n${added(content)}\n*** End Patch\n`,
}

const runners: Readonly<Record<string, (command: string) => ToolCall['input']>> = {
  Bash: (command) => ({ command, description: 'scripted' }),
  run_shell_command: (command) => ({ command, description: 'scripted', is_background: false }),
  bash: (command) => ({ command, description: 'scripted' }),
  exec_command: (cmd) => ({ cmd, yield_time_ms: 30_000 }),
}

/** The call in the words of the program that offers these tools. */
export function toolCall(call: Call, offered: readonly string[]): ToolCall {
  const name = offered.find((tool) => Object.hasOwn('write' in call ? writers : runners, tool))
  const input = name === undefined ? undefined : 'write' in call ? writers[name]?.(call) : runners[name]?.(call.run)
  if (name === undefined || input === undefined) {
    throw new Error(`none of its tools can do ${JSON.stringify(call)}: ${offered.join(', ')}`)
  }
  return { name, input }
}

const added = (content: string): string =>
  content
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => `+${line}`)
    .join('\n')
