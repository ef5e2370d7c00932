/** Programs whose sign-in is not simply their own start. */
const commands: Readonly<Record<string, string>> = { codex: 'codex login', opencode: 'opencode auth login' }

/** What the user types to sign in to an agent program. */
export const signInCommand = (agent: string): string => commands[agent] ?? agent
