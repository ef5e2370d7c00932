import type { Progress } from '../../contract/progress.ts'

/** A way to notify people, in local runs and in the fleet. */
export interface Channel {
  /**
   * Delivers one message. `address` is what SPRINT.yaml says after the name of the channel, such as a URL; a bare name is its own
   * address. Rejects with a reason for the user; the caller records it, and retries if it wants to.
   */
  readonly send: (address: string, message: ChannelMessage, tools: ChannelTools) => Promise<void>
}

export type NotificationQuestion = Omit<NonNullable<Progress['humanNeeded']>, 'askedAt'>

export type ChannelMessage = {
  /** The same for every attempt to deliver the message; by default, each attempt is a new message. */
  readonly id?: string
  /** Status of the sprint, or event of the fleet. */
  readonly about: string
  /** One line for people. */
  readonly text: string
  readonly sprintId?: string
  /** The open question of a sprint that needs a person. */
  readonly question?: NotificationQuestion
  /** The whole message for programs. */
  readonly body: Readonly<Record<string, unknown>>
}

/** What a channel may use of the computer that sends. */
export type ChannelTools = {
  readonly platform: NodeJS.Platform
  /** Posts JSON to a public HTTPS address, signed with the secret of the recipient if there is one. */
  readonly post: (url: string, body: string, id: string | undefined) => Promise<void>
  /** Runs a command in the project; rejects if it fails. The backend runs no commands. */
  readonly run?: (command: string, variables: Readonly<Record<string, string>>) => Promise<void>
}

/** Runs a command with the message in its environment: a shell must never interpret the text of an agent. */
export async function runWithMessage(
  command: string,
  { about, text, sprintId = '', question }: ChannelMessage,
  { run }: ChannelTools,
): Promise<void> {
  if (!run) throw new Error('commands cannot run here')
  const details = question
    ? { RALPH_DETAILS: question.details, RALPH_OPTIONS: (question.options ?? []).join('\n') }
    : {}
  await run(command, { RALPH_SPRINT: sprintId, RALPH_STATUS: about, RALPH_TEXT: text, ...details })
}
