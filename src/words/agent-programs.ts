/** An agent program that a newcomer can install. */
export type KnownProgram = {
  readonly name: string
  readonly title: string
  readonly install: string
  readonly signIn: string
}

/** In the order in which Ralph chooses one. */
export const knownPrograms: readonly KnownProgram[] = [
  { name: 'claude', title: 'Claude Code', install: 'npm install -g @anthropic-ai/claude-code', signIn: 'claude' },
  { name: 'codex', title: 'Codex', install: 'npm install -g @openai/codex', signIn: 'codex login' },
  { name: 'gemini', title: 'Gemini CLI', install: 'npm install -g @google/gemini-cli', signIn: 'gemini' },
  { name: 'opencode', title: 'OpenCode', install: 'npm install -g opencode-ai', signIn: 'opencode auth login' },
]
