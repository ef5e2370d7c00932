import { z } from 'zod'
import { Check } from './check.ts'
import type { CheckKind } from './check-kind.ts'

/** `run: npm test`: a command, which is what Ralph stores of every kind. */
const commandCheck: CheckKind = Check

/** Every kind of check; adding one is a file and a row here. */
const checkKinds: readonly [CheckKind, ...CheckKind[]] = [commandCheck]

/** An entry of `done-when`. */
export const CheckEntry: CheckKind = checkKinds.length === 1 ? checkKinds[0] : z.union(checkKinds)
