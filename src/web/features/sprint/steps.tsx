import { Check } from 'lucide-react'
import { useState } from 'react'
import type { Progress, Step } from '../../../contract/progress.ts'
import { Card, CardHead } from '../../ui/card.tsx'
import { classes } from '../../ui/classes.ts'

type StepsProps = {
  readonly progress: Progress
  readonly iteration: number | undefined
  readonly onChoose: (iteration: number) => void
}

/** The agent's plan. A finished step links to the iteration that finished it. */
export function Steps({ progress, iteration, onChoose }: StepsProps) {
  const [all, setAll] = useState(false)
  const { dynamicSteps: steps, stats, live } = progress
  if (steps.length === 0) return null
  const current = live.at(-1)?.step
  const done = steps.filter(({ status }) => status === 'completed')
  const shown = all ? steps : [...done.slice(-6), ...steps.filter(({ status }) => status === 'pending').slice(0, 12)]
  return (
    <Card label="Steps">
      <CardHead>
        Steps{' '}
        <span className="font-normal text-faint">
          {stats.completedSteps} of {stats.totalSteps}
        </span>
      </CardHead>
      <ul className="divide-y divide-line">
        {shown.map((step) => (
          <li key={step.id}>
            <StepRow
              step={step}
              current={step.id === current}
              chosen={iteration !== undefined && step.completedInIteration === iteration}
              onChoose={onChoose}
            />
          </li>
        ))}
      </ul>
      {!all && shown.length < steps.length && (
        <button
          type="button"
          className="w-full border-t border-line py-1.5 text-sm text-dim hover:bg-sunken"
          onClick={() => setAll(true)}
        >
          All {steps.length} steps
        </button>
      )}
    </Card>
  )
}

type StepRowProps = {
  readonly step: Step
  readonly current: boolean
  readonly chosen: boolean
  readonly onChoose: (iteration: number) => void
}

function StepRow({ step, current, chosen, onChoose }: StepRowProps) {
  const finished = step.status === 'completed'
  const look = classes(
    'flex w-full gap-2.5 px-3.5 py-[7px] text-left',
    current && 'bg-accent-bg',
    chosen && 'bg-sunken',
    finished && 'text-faint',
  )
  const content = (
    <>
      <span aria-hidden className="grid size-5 w-3.5 shrink-0 place-items-center">
        {finished && <Check className="size-3.5 text-ok" strokeWidth={2.5} />}
        {!finished && current && <span className="pulse size-2 rounded-full bg-accent" />}
        {!finished && !current && <span className="size-2 rounded-full border border-line-strong" />}
      </span>
      <span className="line-clamp-3 min-w-0 break-words">{step.prompt}</span>
    </>
  )
  const number = step.completedInIteration
  if (!finished || number === undefined) return <div className={look}>{content}</div>
  return (
    <button
      type="button"
      title={`Finished in iteration ${number}`}
      className={classes(look, '-outline-offset-2 hover:bg-sunken')}
      onClick={() => onChoose(number)}
    >
      {content}
    </button>
  )
}
