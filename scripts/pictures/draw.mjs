// Draws boxes and arrows as an SVG that is readable on light and dark pages. Text stays text, so that it can be searched and read aloud.

const unit = 10
const style = `
.page{fill:#fbfcfd;stroke:#d0d7de}text{font:15px system-ui,"Segoe UI",Helvetica,Arial,sans-serif;fill:#1f2328}
.box{fill:#fff;stroke:#57606a;stroke-width:1.5}.agent{fill:#fff3d6;stroke:#9a6700}.ralph{fill:#ddf4ff;stroke:#0969da}
.good{fill:#dafbe1;stroke:#1a7f37}.group{fill:none;stroke:#8c959f;stroke-dasharray:6 5}
.head{font-weight:600}.note,.label{font-size:13px;fill:#57606a}.line{fill:none;stroke:#57606a;stroke-width:1.6}.tip{fill:#57606a}
@media (prefers-color-scheme:dark){
.page{fill:#15191e;stroke:#30363d}text{fill:#e6edf3}.box{fill:#1f242b;stroke:#8b949e}.agent{fill:#3b2f10;stroke:#e3b341}
.ralph{fill:#0c2d4a;stroke:#79c0ff}.good{fill:#12361f;stroke:#56d364}.group{stroke:#6e7681}.note,.label{fill:#9ea7b3}.line{stroke:#9ea7b3}.tip{fill:#9ea7b3}}`

/** Places and sizes are in units of 10 pixels. */
export function drawPicture({ title, description, width, height, boxes, arrows }) {
  const places = new Map(boxes.map((box) => [box.id, box]))
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width * unit} ${height * unit}" width="${width * unit}" height="${height * unit}" role="img" aria-labelledby="t d">
<title id="t">${escapeXml(title)}</title><desc id="d">${escapeXml(description)}</desc><style>${style}</style>
<rect class="page" x=".5" y=".5" width="${width * unit - 1}" height="${height * unit - 1}" rx="9"/>
${[...boxes.map(drawBox), ...arrows.map((arrow) => drawArrow(arrow, places))].join('\n')}
</svg>
`
}

function drawBox({ x, y, w, h, kind = 'box', head, lines = [] }) {
  const isGroup = kind === 'group'
  const middle = (x + w / 2) * unit
  const count = lines.length + (head ? 1 : 0)
  const first = isGroup ? y * unit + 20 : (y + h / 2) * unit - (count - 1) * 9.5 + 5
  const texts = [...(head ? [{ text: head, look: 'head' }] : []), ...lines.map((text) => ({ text, look: 'note' }))]
  const drawn = texts.map(
    ({ text, look }, index) =>
      `<text class="${look}" x="${isGroup ? x * unit + 14 : middle}" y="${first + index * 19}"${isGroup ? '' : ' text-anchor="middle"'}>${escapeXml(text)}</text>`,
  )
  return `<rect class="${kind === 'box' || isGroup ? kind : `box ${kind}`}" x="${x * unit}" y="${y * unit}" width="${w * unit}" height="${h * unit}" rx="${isGroup ? 12 : 7}"/>${drawn.join('')}`
}

/** From a side of one box to a side of another, through the given corners. */
function drawArrow({ from, to, via = [], label, at }, places) {
  const points = [side(from, places), ...via, side(to, places)].map(([x, y]) => [x * unit, y * unit])
  const [end = [0, 0], before = [0, 0]] = points.toReversed()
  const path = points.map((point, index) => `${index === 0 ? 'M' : 'L'}${point.join(' ')}`).join('')
  const angle = (Math.atan2(end[1] - before[1], end[0] - before[0]) * 180) / Math.PI
  const tip = `<path class="tip" d="M0 0L-11 -5L-11 5Z" transform="translate(${end.join(' ')}) rotate(${angle.toFixed(0)})"/>`
  const text = label
    ? `<text class="label" x="${at[0] * unit}" y="${at[1] * unit}" text-anchor="middle">${escapeXml(label)}</text>`
    : ''
  return `<path class="line" d="${path}"/>${tip}${text}`
}

/** `box.right`, or `box.right+2` for two units further down (or to the right, on top and bottom). */
function side(place, places) {
  const [, id, name, shift = '0'] = /^(\w+)\.(\w+?)([+-][\d.]+)?$/.exec(place)
  const { x, y, w, h } = places.get(id)
  const by = Number(shift)
  return {
    left: [x, y + h / 2 + by],
    right: [x + w, y + h / 2 + by],
    top: [x + w / 2 + by, y],
    bottom: [x + w / 2 + by, y + h],
  }[name]
}

const escapeXml = (text) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
