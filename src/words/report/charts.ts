import { html, type HtmlMarkup } from './html.ts'

export type ChartBar = {
  readonly label: string
  readonly value: number
  /** The tooltip of a bar. */
  readonly title: string
  /** A CSS class. */
  readonly kind: string
}

const height = 120
const maxBarWidth = 44
const chartWidth = 480

/** Draws bars side by side, scaled to the frame; zero is a line. */
export function renderBarChart(name: string, bars: readonly ChartBar[], most: string): HtmlMarkup {
  const highest = Math.max(...bars.map(({ value }) => value), Number.EPSILON)
  const step = Math.min(maxBarWidth, chartWidth / Math.max(1, bars.length))
  const every = Math.ceil(28 / step)
  const drawn = bars.map(({ label, value, title, kind }, index) => {
    const size = Math.max(1, Math.round((Math.max(0, value) / highest) * height))
    const x = fixed(index * step)
    const text =
      index % every === 0 ? html`<text x="${fixed(x + step * 0.41)}" y="${height + 14}">${label}</text>` : html``
    return html`<g class="${kind}"
        ><rect
          x="${x}"
          y="${height - size}"
          width="${fixed(Math.max(0.5, step * 0.82))}"
          height="${size}"
          rx="${step > 8 ? 2 : 0}"
          ><title>${title}</title></rect
        ></g
      >${text}`
  })
  const width = chartWidth
  return html`<figure>
    <figcaption>${name} <span class="dim">most: ${most}</span></figcaption>
    <svg viewBox="0 0 ${width} ${height + 18}" preserveAspectRatio="xMinYMax meet" role="img" aria-label="${name}">
      <line x1="0" y1="${height}" x2="${width}" y2="${height}" />
      ${drawn}
    </svg>
  </figure>`
}

const fixed = (value: number): number => Math.round(value * 100) / 100
