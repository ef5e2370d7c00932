import type { Progress } from '../../contract/progress.ts'

/** True if an agent program refused to start because the user is root. */
export const isRootRefusal = ({ failure, humanNeeded }: Progress): boolean =>
  failure?.class === 'tool_denied' && /\broot\b.*privileges/.test(humanNeeded?.reason ?? '')
