import { useQuery } from '@tanstack/react-query'
import type { UsageRow } from '../../contract/fleet/sprint.ts'
import { told } from '../data/api.ts'
import { usageQuery } from '../data/queries.ts'
import { byDay, byAgent } from '../features/fleet/usage-sums.ts'
import { useTitle } from '../shell/title.ts'
import { Card, CardHead } from '../ui/card.tsx'
import { ColumnChart } from '../ui/column-chart.tsx'
import { Empty, Problem, Skeleton } from '../ui/states.tsx'
import { count, money, plural } from '../words/numbers.ts'

/** Cost and tokens of the last 30 days. */
export function UsagePage() {
  useTitle('Spend')
  const usage = useQuery(usageQuery)
  if (usage.isPending) return <Skeleton className="mx-auto h-64 max-w-5xl rounded-[10px]" />
  if (usage.isLoadingError)
    return (
      <Card>
        <Problem {...told(usage.error)} onRetry={() => void usage.refetch()} />
      </Card>
    )
  const { items, todayUsd } = usage.data
  return (
    <div className="mx-auto max-w-5xl">
      <h1 className="mb-3.5 text-xl font-semibold tracking-tight">
        {money(todayUsd)} <span className="font-normal text-dim">spent today</span>
      </h1>
      {items.length === 0 ? (
        <Card>
          <Empty title="No spend in the last 30 days" />
        </Card>
      ) : (
        <Tables items={items} />
      )}
    </div>
  )
}

function Tables({ items }: { items: readonly UsageRow[] }) {
  const days = byDay(items)
  const total = items.reduce((sum, { costUsd }) => sum + costUsd, 0)
  return (
    <div className="space-y-3.5">
      <Card>
        <ColumnChart
          title="By day"
          total={`${money(total)} in 30 days`}
          columns={days.map(({ day, costUsd }) => ({
            key: day,
            label: day.slice(5),
            title: `${day}: ${money(costUsd)}`,
            parts: [{ name: 'cost', value: costUsd, fill: 'bg-accent' }],
          }))}
        />
      </Card>
      <Card>
        <CardHead>By agent and model</CardHead>
        <div className="overflow-x-auto">
          <table className="w-full">
            <thead>
              <tr className="border-b border-line text-left text-sm text-dim">
                {['Agent', 'Model', 'Iterations', 'Tokens in', 'out', 'Cost'].map((name) => (
                  <th key={name} scope="col" className="px-3.5 py-2 font-medium">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody className="divide-y divide-line">
              {byAgent(items).map((row) => (
                <tr key={row.key}>
                  <th scope="row" className="px-3.5 py-2 text-left font-medium">
                    {row.agentName}
                  </th>
                  <td className="px-3.5 text-dim">{row.model}</td>
                  <td className="px-3.5">{row.iterations}</td>
                  <td className="px-3.5">{count(row.tokensIn)}</td>
                  <td className="px-3.5">{count(row.tokensOut)}</td>
                  <td className="px-3.5">
                    {money(row.costUsd)}
                    {row.unpriced > 0 && (
                      <span className="text-faint"> + {plural(row.unpriced, 'unpriced attempt')}</span>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </Card>
    </div>
  )
}
