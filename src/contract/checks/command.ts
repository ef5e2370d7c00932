import { nonEmptyText } from '../text.ts'
import { defineCheckKind } from './check-kind.ts'

/** `run: npm test`: the command itself. */
export const commandCheck = defineCheckKind({
  fields: { run: nonEmptyText.describe('Shell command that Ralph runs in the project; exit 0 means passed') },
  toCommand: ({ run }) => ({ run }),
})
