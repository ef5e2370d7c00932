import { RalphError } from '../../../contract/errors.ts'
import { BudgetPeriod, type Budget } from '../../../contract/fleet/budget.ts'
import { formatCap, formatUsd } from '../../../words/money.ts'
import type { Client } from '../../../client/client.ts'
import { defineCommand } from '../../io/command.ts'
import { caOption } from '../../serve/ca-option.ts'
import { createBackendClient } from '../../serve/running-backend.ts'

const verbs = ['list', 'set', 'remove'] as const

export const budget = defineCommand({
  name: 'budget',
  summary: 'Cap the spend of a fleet, a user or a label per day or month',
  arguments: ['<list|set|remove>', '[usd]'],
  options: {
    per: { type: 'string', value: 'PERIOD', description: 'day or month, in UTC (default: month)' },
    user: { type: 'string', value: 'NAME', description: 'the agents that this user owns' },
    label: { type: 'string', value: 'LABEL', description: 'the agents with this label' },
    'warn-only': { type: 'boolean', description: 'set: notify, and keep starting prompts' },
    data: { type: 'string', value: 'DIR', description: 'data folder of the backend (default ~/.ralph/backend)' },
    ca: caOption,
    json: { type: 'boolean', description: 'print JSON' },
  },
  details: `Without --user and --label a budget counts the whole fleet. From 80 % of a budget on, the webhooks for
\`budget\` are called, once per day or month. Once it is spent, new prompts and sprints wait for the next day or month, or until you raise or remove it; prompts that
run already end normally, so the spend can exceed the budget by what they cost.`,
  examples: ['ralph budget set 200', 'ralph budget set 20 --per day --label gpu', 'ralph budget list'],
  async run({ values, positionals: [verb = 'list', usd] }, io) {
    const client = createBackendClient(values, io)
    const print = (json: unknown, text: string) => io.print(values.json === true ? JSON.stringify(json) : text)
    if (verb === 'list') {
      const { items } = await client.listBudgets({})
      print(items, items.length === 0 ? 'no budgets' : items.map(formatBudget).join('\n'))
      return 0
    }
    if (verb !== 'set' && verb !== 'remove')
      throw new RalphError('USAGE', `budget: unknown command "${verb}"`, { hint: `use one of ${verbs.join(', ')}` })
    const target = await resolveTarget(client, values)
    if (verb === 'set') {
      const saved = await client.setBudget({ ...target, limitUsd: parseUsd(usd), hard: values['warn-only'] !== true })
      print(saved, formatBudget(saved))
      return 0
    }
    const { items } = await client.listBudgets({})
    const found = items.find((item) => isSameTarget(item, target))
    if (!found) throw new RalphError('NOT_FOUND', 'there is no such budget', { hint: 'ralph budget list' })
    await client.deleteBudget({ budgetId: found.id })
    print(found, `removed: ${formatBudget(found)}`)
    return 0
  },
})

type BudgetTarget = Pick<Budget, 'scope' | 'subject' | 'period'>

const isSameTarget = (a: BudgetTarget, b: BudgetTarget): boolean =>
  a.scope === b.scope && a.subject === b.subject && a.period === b.period

async function resolveTarget(
  client: Client,
  { per = 'month', user, label }: { per?: string | undefined; user?: string | undefined; label?: string | undefined },
): Promise<BudgetTarget> {
  const period = BudgetPeriod.safeParse(per)
  if (!period.success) throw new RalphError('USAGE', `budget: --per is "${per}"`, { hint: 'use day or month' })
  if (user !== undefined && label !== undefined)
    throw new RalphError('USAGE', 'budget: --user and --label exclude each other', { hint: 'set two budgets' })
  if (label !== undefined) return { scope: 'label', subject: label, period: period.data }
  if (user === undefined) return { scope: 'fleet', period: period.data }
  const { items } = await client.listUsers({})
  const found = items.find(({ name, id }) => name === user || id === user)
  if (!found) throw new RalphError('NOT_FOUND', `there is no user "${user}"`, { hint: 'ralph user list' })
  return { scope: 'user', subject: found.id, period: period.data }
}

function parseUsd(text = ''): number {
  const usd = Number(text.replace(/^\$/, ''))
  if (text === '' || !Number.isFinite(usd) || usd < 0)
    throw new RalphError('USAGE', `budget set: "${text}" is not an amount in USD`, { hint: 'ralph budget set 200' })
  return usd
}

function formatBudget(item: Budget): string {
  const { scope, subjectName = 'a former user', period, limitUsd, spentUsd, forecastUsd, hard, state, unpriced } = item
  const subject = scope === 'fleet' ? 'fleet' : `${scope} ${subjectName}`
  const notes = [
    `forecast ${formatUsd(forecastUsd)}`,
    ...(hard ? [] : ['warns only']),
    ...(unpriced > 0 ? [`${unpriced} attempts without a price`] : []),
    ...(state === 'spent' ? [hard ? 'SPENT: new prompts wait' : 'SPENT'] : []),
  ]
  return `${subject}  ${formatUsd(spentUsd)} of ${formatCap(limitUsd)} this ${period}  (${notes.join(', ')})`
}
