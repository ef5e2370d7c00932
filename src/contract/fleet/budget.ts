import { z } from 'zod'
import { Timestamp } from '../time.ts'
import { resourceName, Uuid } from './page.ts'

export const BudgetScope = z.enum(['fleet', 'user', 'label'])
export const BudgetPeriod = z.enum(['day', 'month'])
export type BudgetPeriod = z.output<typeof BudgetPeriod>

const BudgetFields = z.strictObject({
  scope: BudgetScope,
  /** The ID of a user, whose own agents count, or a label of agents; absent for the whole fleet. */
  subject: resourceName.optional(),
  /** Days and months begin at midnight UTC. */
  period: BudgetPeriod,
  limitUsd: z.number().min(0).max(10_000_000),
  /** A hard budget stops new prompts until the next period; the others only notify. */
  hard: z.boolean().default(true),
})

export const NewBudget = BudgetFields.refine(({ scope, subject }) => (scope === 'fleet') === (subject === undefined), {
  path: ['subject'],
  error: 'names a user or a label, and nothing for the fleet',
})
export type NewBudget = z.output<typeof NewBudget>

export const Budget = BudgetFields.extend({
  id: Uuid,
  /** The name of the user, or the label. */
  subjectName: z.string().optional(),
  spentUsd: z.number(),
  /** Attempts whose cost is unknown, and therefore not in `spentUsd`. */
  unpriced: z.int(),
  /** The spend expected at the end of the period. */
  forecastUsd: z.number(),
  state: z.enum(['within', 'near', 'spent']),
  /** When the next period begins. */
  resetsAt: Timestamp,
  createdBy: z.string(),
  createdAt: Timestamp,
})
export type Budget = z.output<typeof Budget>

const reasonPrefix = 'budget: '

/** The reason of a sprint or prompt that waits for the next period of a budget. */
export const formatBudgetReason = (sentence: string): string => `${reasonPrefix}${sentence}`

export const isBudgetReason = (reason: string): boolean => reason.startsWith(reasonPrefix)
