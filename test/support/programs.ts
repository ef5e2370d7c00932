import { execFile } from 'node:child_process'
import { chmod } from 'node:fs/promises'
import { promisify } from 'node:util'
import type { TestSprint } from './sprint.ts'

/** Puts a shell script under this name first on PATH of a sprint. */
export async function putProgram(sprint: TestSprint, name: string, script: string): Promise<void> {
  await sprint.write(`../bin/${name}`, `#!/bin/sh\n${script}\n`)
  await chmod(sprint.at('../bin', name), 0o755)
}

/** Shell code that prints lines verbatim. */
export const prints = (...lines: readonly unknown[]): string =>
  lines.map((line) => `printf '%s\\n' '${JSON.stringify(line).replaceAll("'", `'\\''`)}'`).join('\n')

/** What Codex prints for a turn that ends with this message. */
export const codexSays = (text: string) => [
  { type: 'thread.started', thread_id: 'thread' },
  { type: 'item.completed', item: { id: 'item', type: 'agent_message', text } },
  { type: 'turn.completed', usage: { input_tokens: 70, output_tokens: 30 } },
]

export const reportBlock = (report: unknown): string => `Done.\n\n\`\`\`json\n${JSON.stringify(report)}\n\`\`\``

/** Git in the project of a sprint, as a user with a name. */
export async function git(sprint: TestSprint, ...args: readonly string[]): Promise<string> {
  const who = ['-c', 'user.name=User', '-c', 'user.email=user@example.com']
  const { stdout } = await promisify(execFile)('git', [...who, ...args], { cwd: sprint.at() })
  return stdout.trimEnd()
}

/** Turns the project into a repository with the workflow and all other files committed. */
export async function commitAll(sprint: TestSprint): Promise<void> {
  await git(sprint, 'init', '--quiet', '--initial-branch=main')
  await git(sprint, 'add', '--all', '--', '.', ':(exclude)s')
  await git(sprint, 'commit', '--quiet', '--message', 'all')
}
