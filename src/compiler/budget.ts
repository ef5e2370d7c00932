/** How large a sprint may become when its workflows are put together: a few lines must not make gigabytes. */
export const sizeLimits = { phases: 50_000, characters: 8_000_000 } as const

export type Budget = { phases: number; characters: number; exceeded: boolean }

export const newBudget = (): Budget => ({ phases: 0, characters: 0, exceeded: false })

/** false: there is no room left; whoever asks makes no more. */
export function spend(budget: Budget, cost: { readonly phases?: number; readonly characters?: number }): boolean {
  budget.phases += cost.phases ?? 0
  budget.characters += cost.characters ?? 0
  if (budget.phases > sizeLimits.phases || budget.characters > sizeLimits.characters) budget.exceeded = true
  return !budget.exceeded
}
