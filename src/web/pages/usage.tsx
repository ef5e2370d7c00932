import { useQuery } from '@tanstack/react-query'
import type { UsageRow } from '../../contract/fleet/sprint.ts'
import { describeError } from '../data/api.ts'
import { usageQuery } from '../data/queries.ts'
import { BudgetsCard } from '../features/fleet/budgets-card.tsx'
import { sumByAgent, sumByDay, usageDays } from '../features/fleet/usage-sums.ts'
import { useTitle } from '../shell/title.ts'
import { classes } from '../ui/classes.ts'
import { formatDay } from '../words/time-of-day.ts'
import { Card, CardHead } from '../ui/card.tsx'
import { useNow } from '../ui/now.ts'
import { ColumnChart } from '../ui/column-chart.tsx'
import { EmptyState, ProblemNotice, Skeleton } from '../ui/states.tsx'
import { formatCount, pluralize } from '../../words/counts.ts'
import { formatUsd } from '../../words/money.ts'

/** Budgets, and cost and tokens of the last 30 days. */
export function UsagePage() {
  useTitle('Spend')
  const usage = useQuery(usageQuery)
  if (usage.isPending) return <Skeleton className="h-64 rounded-[10px]" />
  if (usage.isLoadingError)
    return (
      <Card>
        <ProblemNotice {...describeError(usage.error)} onRetry={() => void usage.refetch()} />
      </Card>
    )
  const { items, todayUsd } = usage.data
  return (
    <>
      <h1 className="mb-3.5 flex min-h-7.5 items-center gap-2 text-xl font-semibold tracking-tight">
        Spend <span className="font-normal text-dim">{formatUsd(todayUsd)} today</span>
      </h1>
      <BudgetsCard />
      {items.length === 0 ? (
        <Card>
          <EmptyState title="No spend in the last 30 days" />
        </Card>
      ) : (
        <UsageTables items={items} />
      )}
    </>
  )
}

/** On a phone the cost must be in view without scrolling. */
const wideOnly = new Set(['Tokens in', 'Tokens out'])

function UsageTables({ items }: { items: readonly UsageRow[] }) {
  const days = sumByDay(items, useNow())
  const total = items.reduce((sum, { costUsd }) => sum + costUsd, 0)
  return (
    <div className="grid grid-cols-1 items-start gap-3.5 xl:grid-cols-2">
      <Card>
        <ColumnChart
          title="By day"
          total={`${formatUsd(total)} in ${usageDays} days`}
          format={formatUsd}
          columns={days.map(({ day, costUsd }) => ({
            key: day,
            label: formatDay(day),
            title: `${formatDay(day)}: ${formatUsd(costUsd)}`,
            parts: [{ name: 'cost', value: costUsd, fill: 'bg-accent' }],
          }))}
        />
      </Card>
      <UsageByAgent items={items} />
    </div>
  )
}

function UsageByAgent({ items }: { items: readonly UsageRow[] }) {
  return (
    <Card>
      <CardHead>By agent and model</CardHead>
      <div className="overflow-x-auto">
        <table className="w-full">
          <thead>
            <tr className="border-b border-line text-left text-sm text-dim">
              {['Agent', 'Model', 'Iterations', 'Tokens in', 'Tokens out', 'Cost'].map((name, column) => (
                <th
                  key={name}
                  scope="col"
                  className={classes(
                    'px-3.5 py-2 font-medium',
                    column > 1 && 'text-right',
                    wideOnly.has(name) && 'max-sm:hidden',
                  )}
                >
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody className="divide-y divide-line">
            {sumByAgent(items).map((row) => (
              <tr key={row.key}>
                <th scope="row" className="px-3.5 py-2 text-left font-medium">
                  {row.agentName}
                </th>
                <td className="px-3.5 text-dim">{row.model}</td>
                <td className="px-3.5 text-right">{row.iterations}</td>
                <td className="px-3.5 text-right max-sm:hidden">{formatCount(row.tokensIn)}</td>
                <td className="px-3.5 text-right max-sm:hidden">{formatCount(row.tokensOut)}</td>
                <td className="px-3.5 text-right">
                  {formatUsd(row.costUsd)}
                  {row.unpriced > 0 && (
                    <span className="text-faint"> + {pluralize(row.unpriced, 'unpriced attempt')}</span>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Card>
  )
}
