import { classes } from './classes.ts'

export type ChartColumn = {
  readonly key: string | number
  readonly label: string
  /** From the bottom up. */
  readonly parts: readonly { readonly value: number; readonly fill: string; readonly name: string }[]
  readonly title: string
}

type ColumnChartProps = {
  readonly title: string
  readonly total: string
  readonly columns: readonly ChartColumn[]
  /** Names the highest column at the line that it reaches. */
  readonly format: (value: number) => string
  readonly legend?: readonly { readonly name: string; readonly fill: string }[]
}

/** A column chart drawn with boxes: no library, and accessible. */
export function ColumnChart({ title, total, columns, format, legend = [] }: ColumnChartProps) {
  const most = Math.max(Number.EPSILON, ...columns.map(({ parts }) => parts.reduce((sum, { value }) => sum + value, 0)))
  return (
    <figure className="px-3.5 py-3">
      <figcaption className="flex items-baseline gap-2">
        <span className="text-sm font-semibold text-dim">{title}</span>
        <span className="font-semibold">{total}</span>
        <span className="ml-auto flex flex-wrap gap-3 text-sm text-dim">
          {legend.map(({ name, fill }) => (
            <span key={name} className="flex items-center gap-1.5">
              <span aria-hidden className={classes('size-2 rounded-[2px]', fill)} /> {name}
            </span>
          ))}
        </span>
      </figcaption>
      <p aria-hidden className="border-b border-dashed border-line pb-px text-right text-xs text-faint">
        highest {format(most)}
      </p>
      <ol className="flex h-24 items-end gap-[3px] border-b border-line" aria-label={title}>
        {columns.map((column) => (
          <li
            key={column.key}
            title={column.title}
            aria-label={column.title}
            className="flex h-full min-w-0 flex-1 flex-col justify-end hover:bg-sunken"
          >
            {column.parts.toReversed().map(({ value, fill, name }) => (
              <span
                key={name}
                aria-hidden
                className={classes('mx-auto w-full max-w-6 first:rounded-t-[2px]', fill)}
                style={{ height: `${(value / most) * 100}%` }}
              />
            ))}
          </li>
        ))}
      </ol>
      <ChartLabels labels={columns.map(({ label }) => label)} />
    </figure>
  )
}

/** Each label under its column while there is room, otherwise the first and the last one. */
const ChartLabels = ({ labels }: { labels: readonly string[] }) => {
  const fits = labels.length <= 20 && labels.every((label) => label.length <= 3)
  return (
    <div aria-hidden className={classes('flex pt-0.5 text-xs text-faint', fits ? 'gap-[3px]' : 'justify-between')}>
      {(fits ? labels : [labels[0], labels.length > 1 ? labels.at(-1) : '']).map((label, index) => (
        <span key={index} className={fits ? 'min-w-0 flex-1 text-center' : undefined}>
          {label}
        </span>
      ))}
    </div>
  )
}
