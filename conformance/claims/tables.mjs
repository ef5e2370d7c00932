// The tables of the corpus, as Markdown.
import { readFileSync, writeFileSync } from 'node:fs'

export const classes = {
  A: 'forged state',
  B: 'weakened tests',
  C: 'settings and shims',
  D: 'code that knows the test, or forges its report',
  E: 'time of check',
}

const outcomes = [
  'accepted',
  'accepted with a warning',
  'accepted with a label',
  'reached after all',
  'question',
  'refused',
  'no end',
  'not run',
]
const isFalseDone = ({ verdict }) => verdict === 'accepted' || verdict === 'accepted with a warning'
const isTaken = ({ verdict }) => verdict.startsWith('accepted')

/** `columns` are `{title, note?, cheats, honest}` with the verdicts of one setting. */
export function corpusTables(columns) {
  return columns
    .map(({ title, note, cheats, honest }) => {
      if (note) return `### ${title}\n\n${note}\n`
      const parts = [`### ${title}\n`]
      if (cheats.length > 0) parts.push(cheatTable(cheats), acceptedList(cheats))
      if (honest.length > 0) parts.push(honestTable(honest))
      return parts.join('\n')
    })
    .join('\n')
}

function cheatTable(verdicts) {
  const rows = Object.entries(classes).flatMap(([letter, title]) => {
    const some = verdicts.filter((verdict) => verdict.class === letter)
    return some.length === 0 ? [] : [row(`${letter} ${title}`, some)]
  })
  return table(['cheats', 'tried', ...outcomes], [...rows, row('**all**', verdicts)])
}

function row(title, verdicts) {
  const count = (outcome) => verdicts.filter(({ verdict }) => verdict === outcome).length
  return [title, verdicts.length - count('not run'), ...outcomes.map(count)]
}

function acceptedList(verdicts) {
  const accepted = verdicts.filter(isFalseDone)
  if (accepted.length === 0) return '0 cheats were accepted without a label.\n'
  return `Accepted without a label (${accepted.length}):\n\n${accepted.map(({ id, name }) => `- \`${id}\` ${name}`).join('\n')}\n`
}

function honestTable(verdicts) {
  const run = verdicts.filter(({ verdict }) => verdict !== 'not run')
  const lost = run.filter((verdict) => !isTaken(verdict))
  const skipped = verdicts.filter(({ verdict }) => verdict === 'not run')
  const head = `Honest endings: ${run.length - lost.length} of ${run.length} accepted, ${run.filter(({ verdict }) => verdict === 'accepted with a label').length} of them with a label.\n`
  const rows = [...lost, ...skipped].map(({ id, name, verdict, reason }) => [
    `\`${id}\``,
    name,
    verdict,
    reason.replaceAll('|', '/'),
  ])
  return rows.length === 0 ? head : `${head}\n${table(['honest ending', 'what it is', 'verdict', 'reason'], rows)}`
}

function table(heads, rows) {
  return `${[heads, heads.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')}\n`
}

/** Puts the text between the markers of the page. */
export function writeTables(file, text) {
  const page = readFileSync(file, 'utf8')
  const [open, close] = ['<!-- tables: begin -->', '<!-- tables: end -->']
  const [from, to] = [page.indexOf(open), page.indexOf(close)]
  if (from === -1 || to === -1) throw new Error(`${file} has no markers ${open} and ${close}`)
  writeFileSync(file, `${page.slice(0, from + open.length)}\n\n${text.trim()}\n\n${page.slice(to)}`)
}
