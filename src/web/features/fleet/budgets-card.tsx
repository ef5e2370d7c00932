import { useQuery, useQueryClient } from '@tanstack/react-query'
import { X } from 'lucide-react'
import { useState } from 'react'
import { BudgetPeriod, BudgetScope, type Budget } from '../../../contract/fleet/budget.ts'
import { pluralize } from '../../../words/counts.ts'
import { formatAge } from '../../../words/durations.ts'
import { formatCap, formatUsd } from '../../../words/money.ts'
import { api } from '../../data/api.ts'
import { budgetsQuery, meQuery, usersQuery } from '../../data/queries.ts'
import { useAction } from '../../data/use-action.ts'
import { Badge } from '../../ui/badge.tsx'
import { UsageBar } from '../../ui/bar.tsx'
import { Button, IconButton } from '../../ui/button.tsx'
import { Card, CardHead } from '../../ui/card.tsx'
import { Select, TextInput } from '../../ui/field.tsx'
import { useNow } from '../../ui/now.ts'

/** Spending caps: what is left of each, and a form for admins. */
export function BudgetsCard() {
  const cache = useQueryClient()
  const { data: budgets = [] } = useQuery(budgetsQuery)
  const { data: me } = useQuery(meQuery)
  const isAdmin = me?.user.role === 'admin'
  const refresh = () => void cache.invalidateQueries({ queryKey: budgetsQuery.queryKey })
  if (budgets.length === 0 && !isAdmin) return null
  return (
    <Card label="Budgets" className="mb-3.5">
      <CardHead>Budgets</CardHead>
      <ul className="divide-y divide-line">
        {budgets.map((budget) => (
          <BudgetRow key={budget.id} budget={budget} isAdmin={isAdmin} onRemove={refresh} />
        ))}
      </ul>
      {isAdmin && <NewBudgetForm onSet={refresh} />}
    </Card>
  )
}

const subjectText = ({ scope, subjectName = 'a former user' }: Budget): string =>
  scope === 'fleet' ? 'The fleet' : scope === 'user' ? `Agents of ${subjectName}` : `Agents labelled ${subjectName}`

type BudgetRowProps = { readonly budget: Budget; readonly isAdmin: boolean; readonly onRemove: () => void }

function BudgetRow({ budget, isAdmin, onRemove }: BudgetRowProps) {
  const now = useNow()
  const remove = useAction(api.deleteBudget, { onDone: onRemove, successToast: 'Budget removed' })
  const { id, period, spentUsd, limitUsd, forecastUsd, unpriced, state, hard, resetsAt } = budget
  const subject = subjectText(budget)
  return (
    <li className="grid grid-cols-[minmax(10rem,24rem)_minmax(0,1fr)_12rem_1.75rem] items-center gap-x-6 gap-y-1.5 px-3.5 py-2 max-md:grid-cols-[minmax(0,1fr)_1.75rem]">
      <span className="min-w-0">
        <span className="flex flex-wrap items-center gap-x-2">
          <span className="truncate font-medium">{subject}</span>
          {state === 'spent' && <Badge tone="bad">{hard ? 'Spent: new prompts wait' : 'Spent'}</Badge>}
          {state === 'near' && <Badge tone="warn">Nearly spent</Badge>}
          {!hard && <Badge>Warns only</Badge>}
        </span>
        <span className="block text-sm text-dim">
          Each {period}, resets in {formatAge(Math.max(0, resetsAt - now))}
          {unpriced > 0 && `; ${pluralize(unpriced, 'attempt')} without a price`}
        </span>
      </span>
      <UsageBar
        part={limitUsd === 0 ? 1 : spentUsd / limitUsd}
        label={`${subject}: spent this ${period}`}
        className="w-full max-md:order-last max-md:col-span-2"
      />
      <span className="text-right text-sm max-md:order-last max-md:col-span-2 max-md:text-left">
        {formatUsd(spentUsd)} of {formatCap(limitUsd)}
        <span className="block text-dim">forecast {formatUsd(forecastUsd)}</span>
      </span>
      {isAdmin && (
        <IconButton
          label={`Remove the budget: ${subject}, each ${period}`}
          disabled={remove.busy}
          onClick={() => remove.run({ budgetId: id })}
        >
          <X aria-hidden className="size-3.5" />
        </IconButton>
      )}
    </li>
  )
}

const scopeLabels = { fleet: 'The fleet', user: 'A user', label: 'A label' } as const

function NewBudgetForm({ onSet }: { onSet: () => void }) {
  const [scope, setScope] = useState<keyof typeof scopeLabels>('fleet')
  const [subject, setSubject] = useState('')
  const [period, setPeriod] = useState<BudgetPeriod>('month')
  const [limit, setLimit] = useState('')
  const [hard, setHard] = useState(true)
  const set = useAction(api.setBudget, { onDone: onSet, successToast: 'Budget set' })
  const limitUsd = limit.trim() === '' ? Number.NaN : Number(limit)
  const isComplete = limitUsd >= 0 && (scope === 'fleet' || subject.trim() !== '')
  return (
    <form
      className="flex flex-wrap items-end gap-2.5 border-t border-line px-3.5 py-3"
      onSubmit={(event) => {
        event.preventDefault()
        set.run({ scope, period, limitUsd, hard, ...(scope !== 'fleet' && { subject: subject.trim() }) })
      }}
    >
      <Select
        label="Budget for"
        value={scope}
        options={BudgetScope.options.map((value) => ({ value, label: scopeLabels[value] }))}
        onChoose={(value) => {
          setScope(BudgetScope.parse(value))
          setSubject('')
        }}
      />
      {scope === 'user' && <UserSelect value={subject} onChoose={setSubject} />}
      {scope === 'label' && (
        <TextInput label="Label" value={subject} onChange={(event) => setSubject(event.target.value)} />
      )}
      <TextInput
        label="USD"
        inputMode="decimal"
        className="w-24"
        value={limit}
        onChange={(event) => setLimit(event.target.value)}
      />
      <Select
        label="Each"
        value={period}
        options={BudgetPeriod.options.map((value) => ({ value, label: value }))}
        onChoose={(value) => setPeriod(BudgetPeriod.parse(value))}
      />
      <label className="flex h-7.5 items-center gap-1.5">
        <input type="checkbox" className="accent-accent" checked={hard} onChange={() => setHard(!hard)} /> Stop new
        prompts
      </label>
      <Button submit disabled={!isComplete || set.busy}>
        Set budget
      </Button>
    </form>
  )
}

function UserSelect({ value, onChoose }: { value: string; onChoose: (id: string) => void }) {
  const { data: users = [] } = useQuery(usersQuery)
  const options = users.map(({ id, name }) => ({ value: id, label: name }))
  return (
    <Select label="User" value={value} options={[{ value: '', label: 'Choose' }, ...options]} onChoose={onChoose} />
  )
}
