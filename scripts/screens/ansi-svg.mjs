// Converts a terminal's screen, as text with colours, to an SVG that is sharp at every size and readable on light and dark pages.

const cell = { width: 8.4, height: 19 }
const pad = { x: 18, top: 44, bottom: 16 }

const style = `
.bg{fill:#fbfcfd;stroke:#d0d7de}.t{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#1f2328;white-space:pre}
.dot{fill:#d0d7de}.dim{fill:#6b7580}.b{font-weight:700}
.c31{fill:#c62828}.c32{fill:#1a7f37}.c33{fill:#9a6700}.c34{fill:#0969da}.c35{fill:#8250df}.c36{fill:#0b7285}
@media (prefers-color-scheme:dark){
.bg{fill:#15191e;stroke:#30363d}.t{fill:#e6edf3}.dot{fill:#30363d}.dim{fill:#8b949e}
.c31{fill:#ff7b72}.c32{fill:#56d364}.c33{fill:#e3b341}.c34{fill:#79c0ff}.c35{fill:#d2a8ff}.c36{fill:#76e3ea}}`

/** The text is the output of `tmux capture-pane -e -p`. */
export function renderSvg(text, { columns, title }) {
  const rows = renderRows(text)
  const lines = rows.map((row, index) => (row === '' ? '' : `<g transform="translate(0 ${rowTop(index)})">${row}</g>`))
  return renderWindow(lines.filter((line) => line !== '').join('\n'), { columns, rows: rows.length, title })
}

/**
 * Frames of one terminal, played in a loop. Each different row is drawn once and used by the frames that show it. With reduced motion, the
 * last frame is shown.
 */
export function renderRecording(frames, { columns, rows, title, seconds }) {
  const last = frames.at(-1).at
  const scale = (seconds * 1000 * 0.85) / last
  const drawn = new Map()
  const shots = frames.map(({ screen, at }) => ({
    at: at * scale,
    rows: renderRows(screen)
      .slice(0, rows)
      .map((row) => {
        if (row !== '' && !drawn.has(row)) drawn.set(row, `r${drawn.size}`)
        return drawn.get(row)
      }),
  }))
  const share = (ms) => ((ms / (seconds * 1000)) * 100).toFixed(2)
  const motion = shots.map(({ at }, index) => {
    const end = shots[index + 1]?.at ?? seconds * 1000
    const isLast = index === shots.length - 1
    const steps = [
      ...(index === 0 ? [] : ['0%{visibility:hidden}']),
      `${share(at)}%{visibility:visible}`,
      ...(isLast ? [] : [`${share(end)}%{visibility:hidden}`]),
    ]
    return `@keyframes f${index}{${steps.join('')}}#f${index}{animation:f${index} ${seconds}s step-end infinite}`
  })
  const groups = shots.map(({ rows: ids }, index) => {
    const uses = ids.map((id, row) => (id === undefined ? '' : `<use href="#${id}" y="${rowTop(row)}"/>`)).join('')
    return `<g id="f${index}"${index === shots.length - 1 ? '' : ' visibility="hidden"'}>${uses}</g>`
  })
  const symbols = [...drawn].map(([row, id]) => `<g id="${id}">${row}</g>`)
  const still = `@media (prefers-reduced-motion:reduce){[id^=f]{animation:none!important}}`
  const body = `<style>${motion.join('\n')}\n${still}</style><defs>${symbols.join('\n')}</defs>\n${groups.join('\n')}`
  return renderWindow(body, { columns, rows, title })
}

const rowTop = (row) => pad.top + row * cell.height + 14

function renderRows(text) {
  let look = plain
  return text
    .trimEnd()
    .split('\n')
    .map((line) => {
      const { runs, last } = splitRuns(line, look)
      look = last
      return runs.map((run) => renderText(run)).join('')
    })
}

function renderWindow(body, { columns, rows, title }) {
  const width = Math.round(columns * cell.width + pad.x * 2)
  const height = rows * cell.height + pad.top + pad.bottom
  const dots = [0, 1, 2].map((n) => `<circle class="dot" cx="${pad.x + 5 + n * 18}" cy="20" r="5.5"/>`).join('')
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escapeXml(title)}">
<title>${escapeXml(title)}</title><style>${style}</style>
<rect class="bg" x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="9"/>${dots}
${body}
</svg>
`
}

const plain = { bold: false, dim: false, color: undefined }

/** Runs of characters with the same style; each non-ASCII character is its own run, so that no font can shift what follows it. */
function splitRuns(line, before) {
  const runs = []
  let look = before
  let column = 0
  for (const part of line.split(/(\u001b\[[0-9;]*m)/)) {
    if (part.startsWith('\u001b[')) {
      look = part
        .slice(2, -1)
        .split(';')
        .reduce((now, code) => lookAfter(now, Number(code || 0)), look)
      continue
    }
    for (const run of part.match(/[ -~]+|[^ -~]/gu) ?? []) {
      runs.push({ text: run, column, look })
      column += [...run].length
    }
  }
  return { runs: runs.filter(({ text }) => text.trim() !== ''), last: look }
}

function lookAfter(look, code) {
  if (code === 0) return plain
  if (code === 1) return { ...look, bold: true }
  if (code === 2) return { ...look, dim: true }
  if (code === 22) return { ...look, bold: false, dim: false }
  if (code >= 31 && code <= 36) return { ...look, color: code }
  return code === 39 ? { ...look, color: undefined } : look
}

function renderText({ text, column, look }) {
  const classes = ['t', look.color && `c${look.color}`, look.dim && 'dim', look.bold && 'b'].filter(Boolean).join(' ')
  const lead = text.length - text.trimStart().length
  const x = (pad.x + (column + lead) * cell.width).toFixed(1)
  const shown = text.trim()
  const length = [...shown].length * cell.width
  const fixed = /^[ -~]+$/.test(shown) && shown.length > 1 ? ` textLength="${length.toFixed(1)}"` : ''
  return `<text class="${classes}" x="${x}"${fixed}>${escapeXml(shown)}</text>`
}

const escapeXml = (text) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
