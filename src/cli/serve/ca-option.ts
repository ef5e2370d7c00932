/** The option of every command that calls a backend. */
export const caOption = {
  type: 'string',
  value: 'FILE',
  description: "certificate of the authority that signed the backend's (default: RALPH_CA)",
} as const
