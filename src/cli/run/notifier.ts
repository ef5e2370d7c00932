import type { SprintNotification, Ports, ShellRunner } from '../../runtime/ports.ts'
import type { Io } from '../io/io.ts'

const commandTimeoutMs = 30_000

/** Notifies people: on the desktop, with a command, or with a signed webhook. */
export function createNotifier(shell: ShellRunner, io: Io): Ports['notify'] {
  let count = 0
  // Notifications can be sent at the same moment, so each has its own folder.
  const run = (command: string, message: SprintNotification) =>
    runNotifyCommand({ attempt: `notify-${++count}`, command }, message, shell)
  return async (target, message) => {
    if (target === 'desktop') return run(desktopCommand(process.platform), message)
    if ('run' in target) return run(target.run, message)
    const body = JSON.stringify({ ...message, at: new Date(io.now()).toISOString() })
    // Importing HTTPS would add 20 ms to every start, and memory to every run.
    const { postWebhook } = await import('../../platform/net/webhook.ts')
    return postWebhook(target.webhook, body, { secret: io.env['RALPH_WEBHOOK_SECRET'] })
  }
}

/** The text is passed in variables, so that the shell never interprets an agent's text. */
const desktopCommand = (platform: NodeJS.Platform): string =>
  platform === 'darwin'
    ? `osascript -e 'display notification (system attribute "RALPH_TEXT") with title "Ralph"'`
    : `notify-send Ralph "$RALPH_TEXT"`

async function runNotifyCommand(
  { attempt, command }: { readonly attempt: string; readonly command: string },
  message: SprintNotification,
  shell: ShellRunner,
): Promise<void> {
  const { sprintId, about, text, question } = message
  const details = question
    ? { RALPH_DETAILS: question.details, RALPH_OPTIONS: (question.options ?? []).join('\n') }
    : {}
  const env = { RALPH_SPRINT: sprintId, RALPH_STATUS: about, RALPH_TEXT: text, ...details }
  const { exitCode, error, output } = await shell.run(
    { attempt, command, timeoutMs: commandTimeoutMs, env, cell: 'none' },
    new AbortController().signal,
  )
  if (exitCode !== 0 || error !== undefined)
    throw new Error(error ?? `exit code ${exitCode}: ${output.trim().slice(-200)}`)
}
