import { sql } from 'drizzle-orm'
import { doneResponse } from '../../../contract/fleet/page.ts'
import { deleteBudget, readBudgets, setBudget } from '../../budgets/budgets.ts'
import type { Fleet } from '../../fleet/fleet.ts'
import { retryBudgetWaits } from '../../sprints/waits.ts'
import type { RouteHandlers } from '../calls/call.ts'

/** Spending caps. */
export const budgetHandlers = (fleet: Fleet): Pick<RouteHandlers, 'listBudgets' | 'setBudget' | 'deleteBudget'> => ({
  listBudgets: async ({ who }) => {
    const own = sql`budget.scope = 'fleet' or budget.scope = 'user' and budget.subject = ${who.user.id}`
    const items = await readBudgets(fleet.database.db, fleet.clock.now(), who.user.role === 'admin' ? undefined : own)
    return { items }
  },
  setBudget: async ({ body, who }) => {
    const budget = await setBudget(fleet, body, { name: who.user.name, userId: who.user.id })
    await retryBudgetWaits(fleet)
    return budget
  },
  deleteBudget: async ({ ids }) => {
    await deleteBudget(fleet, ids.budgetId)
    await retryBudgetWaits(fleet)
    return doneResponse
  },
})
