/** Maximum size of an expanded sprint: a few lines of YAML must not become gigabytes. */
export const sizeLimits = {
  /** Phases of all workflows, before repetition for items. */
  phases: 5000,
  /** Parts of all items. */
  subPhases: 50_000,
  characters: 8_000_000,
} as const

type ExpansionSize = { readonly [K in keyof typeof sizeLimits]: number }

export type ExpansionBudget = { spent: ExpansionSize; exceeded: boolean }

export const createBudget = (): ExpansionBudget => ({
  spent: { phases: 0, subPhases: 0, characters: 0 },
  exceeded: false,
})

/** Returns false once the budget is exceeded; callers then stop expanding. */
export function spendBudget(
  budget: ExpansionBudget,
  { phases = 0, subPhases = 0, characters = 0 }: Partial<ExpansionSize>,
): boolean {
  const { spent } = budget
  budget.spent = {
    phases: spent.phases + phases,
    subPhases: spent.subPhases + subPhases,
    characters: spent.characters + characters,
  }
  budget.exceeded ||=
    budget.spent.phases > sizeLimits.phases ||
    budget.spent.subPhases > sizeLimits.subPhases ||
    budget.spent.characters > sizeLimits.characters
  return !budget.exceeded
}
