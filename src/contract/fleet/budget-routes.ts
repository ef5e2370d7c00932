import { z } from 'zod'
import { Budget, NewBudget } from './budget.ts'
import { DoneResponse } from './page.ts'
import type { Route } from './route.ts'

export const budgetRoutes = {
  listBudgets: {
    method: 'GET',
    path: '/api/budgets',
    needs: 'signed-in',
    summary: 'Spending caps with spend and forecast; members see those of the fleet and their own',
    response: z.object({ items: z.array(Budget) }),
  },
  setBudget: {
    method: 'PUT',
    path: '/api/budgets',
    needs: 'admin',
    summary: 'Sets the budget of the fleet, a user or a label for each day or month',
    body: NewBudget,
    response: Budget,
  },
  deleteBudget: {
    method: 'DELETE',
    path: '/api/budgets/{budgetId}',
    needs: 'admin',
    summary: 'Removes a budget, and starts the prompts that it held back',
    response: DoneResponse,
  },
} as const satisfies Record<string, Route>
