export type Labels = Readonly<Record<string, string>>

type MetricAbout = { readonly name: string; readonly help: string; readonly type: 'counter' | 'gauge' | 'histogram' }

/** One line of the exposition format; `suffix` is `_bucket`, `_sum` or `_count` of a histogram. */
export type Sample = { readonly suffix?: string; readonly labels?: Labels; readonly value: number }

export type Metric = MetricAbout & { readonly samples: () => readonly Sample[] }

export interface Counter extends Metric {
  readonly add: (labels: Labels, value?: number) => void
}

export interface Histogram extends Metric {
  readonly observe: (labels: Labels, value: number) => void
}

/** Upper bound on label combinations of one metric: memory must not grow with what callers send. */
const maxSeries = 2000

export function createCounter(name: string, help: string): Counter {
  const series = new Map<string, { readonly labels: Labels; value: number }>()
  return {
    name,
    help,
    type: 'counter',
    add: (labels, value = 1) => {
      const key = JSON.stringify(labels)
      const known = series.get(key)
      if (known) known.value += value
      else if (series.size < maxSeries) series.set(key, { labels, value })
    },
    samples: () => [...series.values()],
  }
}

type HistogramSeries = { readonly labels: Labels; readonly counts: number[]; sum: number; count: number }

export function createHistogram(name: string, help: string, bounds: readonly number[]): Histogram {
  const series = new Map<string, HistogramSeries>()
  return {
    name,
    help,
    type: 'histogram',
    observe: (labels, value) => {
      const key = JSON.stringify(labels)
      const known = series.get(key)
      if (!known && series.size >= maxSeries) return
      const one = known ?? { labels, counts: bounds.map(() => 0), sum: 0, count: 0 }
      if (!known) series.set(key, one)
      const at = bounds.findIndex((bound) => value <= bound)
      if (at !== -1) one.counts[at] = (one.counts[at] ?? 0) + 1
      one.sum += value
      one.count++
    },
    samples: () => [...series.values()].flatMap((one) => histogramSamples(one, bounds)),
  }
}

function histogramSamples({ labels, counts, sum, count }: HistogramSeries, bounds: readonly number[]): Sample[] {
  let below = 0
  const buckets = bounds.map((bound, at): Sample => {
    below += counts[at] ?? 0
    return { suffix: '_bucket', labels: { ...labels, le: `${bound}` }, value: below }
  })
  return [
    ...buckets,
    { suffix: '_bucket', labels: { ...labels, le: '+Inf' }, value: count },
    { suffix: '_sum', labels, value: sum },
    { suffix: '_count', labels, value: count },
  ]
}

export const createGauge = (name: string, help: string, samples: readonly Sample[]): Metric => ({
  name,
  help,
  type: 'gauge',
  samples: () => samples,
})

/** The text format of Prometheus, version 0.0.4: HELP and TYPE directly above the samples of a metric. */
export const formatMetrics = (metrics: readonly Metric[]): string =>
  metrics
    .map((metric) => {
      const { name, help, type } = metric
      const lines = metric.samples().map((sample) => `${name}${formatSample(sample)}`)
      return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines].join('\n')
    })
    .join('\n')
    .concat('\n')

function formatSample({ suffix = '', labels = {}, value }: Sample): string {
  const pairs = Object.entries(labels).map(([name, text]) => `${name}="${escapeLabel(text)}"`)
  return `${suffix}${pairs.length > 0 ? `{${pairs.join(',')}}` : ''} ${value}`
}

const escapeLabel = (text: string): string =>
  text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
