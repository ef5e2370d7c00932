import { and, eq, sql, type SQL } from 'drizzle-orm'
import { formatBudgetReason, type Budget, type NewBudget } from '../../contract/fleet/budget.ts'
import type { Queries } from '../database/database.ts'
import { budgets, type BudgetRow } from '../database/usage.ts'
import { users } from '../database/user.ts'
import type { Fleet, Requester } from '../fleet/fleet.ts'
import { notFoundError, type AgentTransaction } from '../fleet/transaction.ts'
import { describeBudgetState, findPeriod, forecastSpend, formatDay, paceDays } from './budget-period.ts'

/** Creates the budget of this scope, subject and period, or replaces it. */
export async function setBudget(fleet: Fleet, wanted: NewBudget, by: Requester): Promise<Budget> {
  const { scope, subject = '', period, limitUsd, hard } = wanted
  const { db } = fleet.database
  const now = fleet.clock.now()
  if (scope === 'user') {
    const [user] = await db
      .select()
      .from(users)
      .where(sql`${users.id}::text = ${subject}`)
    if (!user) throw notFoundError('user')
  }
  const changed = { limitUsd, hard, warnedFor: null }
  const [row] = await db
    .insert(budgets)
    .values({ id: fleet.newId(), scope, subject, period, createdBy: by.name, createdAt: now, ...changed })
    .onConflictDoUpdate({ target: [budgets.scope, budgets.subject, budgets.period], set: changed })
    .returning()
  const [budget] = await readBudgets(db, now, sql`budget.id = ${row?.id ?? null}`)
  if (!budget) throw notFoundError('budget')
  return budget
}

export async function deleteBudget({ database: { db } }: Fleet, id: string): Promise<void> {
  const [row] = await db.delete(budgets).where(eq(budgets.id, id)).returning()
  if (!row) throw notFoundError('budget')
}

/** Budgets with what was spent so far, all or those of a condition. */
export async function readBudgets(db: Queries, now: number, where: SQL = sql`true`): Promise<Budget[]> {
  const rows = await selectSpends(db, now, where)
  return rows.map(({ recentUsd, spentUsd, unpriced, userName, subject, ...row }) => {
    const subjectName = row.scope === 'user' ? userName : subject
    return {
      ...row,
      ...(row.scope !== 'fleet' && { subject, ...(subjectName !== null && { subjectName }) }),
      spentUsd,
      unpriced,
      forecastUsd: forecastSpend({ spentUsd, recentUsd }, row.period, now),
      state: describeBudgetState(spentUsd, row.limitUsd),
      resetsAt: findPeriod(row.period, now).end,
    }
  })
}

type SpendRow = Omit<BudgetRow, 'warnedFor'> & {
  readonly spentUsd: number
  readonly recentUsd: number
  readonly unpriced: number
  readonly userName: string | null
}

/** Whether the spend of an agent counts for the budget. */
const isCovered = sql`(budget.scope = 'fleet'
  or budget.scope = 'label' and agent.labels @> jsonb_build_array(budget.subject)
  or budget.scope = 'user' and exists (select 1 from access
    where access.agent_id = agent.id and access.user_id::text = budget.subject and access.level = 'owner'))`

async function selectSpends(db: Queries, now: number, where: SQL): Promise<SpendRow[]> {
  const [today, month] = [formatDay(findPeriod('day', now).start), formatDay(findPeriod('month', now).start)]
  const recent = formatDay(Date.parse(today) - paceDays * 86_400_000)
  const isCurrent = sql`usage.day >= case budget.period when 'day' then ${today}::date else ${month}::date end`
  const isRecent = sql`usage.day >= ${recent}::date and usage.day < ${today}::date`
  const { rows } = await db.execute<SpendRow>(sql`
    select budget.id, budget.scope, budget.subject, budget.period, budget.limit_usd as "limitUsd", budget.hard,
      budget.created_by as "createdBy",
      (extract(epoch from budget.created_at) * 1000)::float8 as "createdAt", "user".name as "userName", spend.*
    from budget
    left join "user" on budget.scope = 'user' and "user".id::text = budget.subject
    cross join lateral (
      select coalesce(sum(cost_usd) filter (where ${isCurrent}), 0)::float8 as "spentUsd",
        coalesce(sum(cost_usd) filter (where ${isRecent}), 0)::float8 as "recentUsd",
        coalesce(sum(unpriced) filter (where ${isCurrent}), 0)::int as unpriced
      from usage join agent on agent.id = usage.agent_id
      where usage.day >= least(${month}::date, ${recent}::date) and ${isCovered}
    ) as spend
    where ${where}
    order by budget.scope, "user".name, budget.subject, budget.period`)
  return rows
}

/** Until when the agent must not start, and why; undefined if no hard budget that covers it is spent. */
export async function findSpentBudget(
  t: AgentTransaction,
): Promise<{ readonly until: number; readonly reason: string } | undefined> {
  const now = t.fleet.clock.now()
  const covers = sql`exists (select 1 from agent where agent.id = ${t.agent.id} and ${isCovered})`
  const found = await readBudgets(t.tx.db, now, covers)
  for (const budget of found) if (budget.state !== 'within') await warnOnce(t, budget)
  const spent = found.filter(({ hard, state }) => hard && state === 'spent')
  const last = spent.toSorted((a, b) => b.resetsAt - a.resetsAt)[0]
  return last && { until: last.resetsAt, reason: formatBudgetReason(describeSpend(last)) }
}

/** Once in each period, whichever replica sees it first. */
async function warnOnce(t: AgentTransaction, budget: Budget): Promise<void> {
  const period = formatDay(findPeriod(budget.period, t.fleet.clock.now()).start)
  const isNew = and(eq(budgets.id, budget.id), sql`warned_for is distinct from ${period}::date`)
  const { rowCount } = await t.tx.db.update(budgets).set({ warnedFor: period }).where(isNew)
  if (rowCount === 0) return
  await t.fleet.notifier.notify(t.tx, { event: 'budget', text: `Budget: ${describeSpend(budget)}` })
}

/** `$20.10 of $20.00 spent today by agents labelled gpu`. */
function describeSpend({ scope, period, spentUsd, limitUsd, subjectName = 'a former user' }: Budget): string {
  const spent = `$${spentUsd.toFixed(2)} of $${limitUsd.toFixed(2)} spent ${period === 'day' ? 'today' : 'this month'}`
  if (scope === 'fleet') return `${spent} by the fleet`
  return scope === 'user' ? `${spent} by the agents of ${subjectName}` : `${spent} by agents labelled ${subjectName}`
}
