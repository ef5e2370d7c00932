import type { Cell } from './cell.ts'

/** No walls: the program is the user. The result of a sprint says so. */
export const none: Cell = {
  kind: 'none',
  guarantees: { filesystem: 'none', network: 'none', processes: 'best-effort', systemCalls: 'none' },
  probe: async () => ({ available: true, version: '', tools: { file: '', canResetSignals: true, options: [] } }),
  wrap: (command) => command,
}
