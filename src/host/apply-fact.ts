import type { Progress } from '../contract/progress.ts'
import { advance } from '../loop/advance.ts'
import type { Fact } from '../loop/core/fact.ts'

/** The progress after a fact, without its orders: how a journal is replayed. */
export const applyFactToProgress = (progress: Progress, fact: Fact): Progress => advance(progress, fact).progress
