/** The environment variable that an agent program misses, by its own error message. */
export const missingVariable = (message: string): string | undefined =>
  /missing environment variable:? [`'"]?([A-Za-z_][A-Za-z0-9_]*)/i.exec(message)?.[1]
