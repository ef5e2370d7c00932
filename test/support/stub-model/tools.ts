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

/** The call in the format of the program that offers these tools. */
export function toolCall(call: Call, offered: readonly string[]): ToolCall {
  const known = offered.flatMap((name) => {
    const input = inputFor(call, name)
    return input === undefined ? [] : [{ name, input }]
  })
  if (known[0]) return known[0]
  throw new Error(`none of its tools can do ${JSON.stringify(call)}: ${offered.join(', ')}`)
}

function inputFor(call: Call, name: string): ToolCall['input'] | undefined {
  if ('answer' in call) return name === 'StructuredOutput' ? call.answer : undefined
  return 'write' in call ? writers[name]?.(call) : runners[name]?.(call.run)
}

const added = (content: string): string =>
  content
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => `+${line}`)
    .join('\n')
