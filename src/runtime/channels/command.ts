import { runWithMessage, type Channel } from './channel.ts'

/** `notify: [{ run: … }]`: any command. */
export const commandChannel: Channel = { send: runWithMessage }
