// What the prose check knows. Pure: text in, problems and figures out.
import { dialect } from './dialect.mjs'

export const limits = {
  cell: 120,
  sentence: 40,
  words: 25_000,
  passive: 0.06,
  pagePassive: 0.2,
  grade: 9,
  pageGrade: 12,
}

/** Pages that a command writes: only their words and cells are checked, and quotations of others not at all. */
export function isGenerated(path, text) {
  return (
    /Written by .*(?:npm run|scripts\/|--write)/.test(text) ||
    /^docs\/(?:benchmarks|conformance-cheats|seeds)\.md$/.test(path)
  )
}

const quoted =
  /^docs\/(?:seeds|planted|escapes|benchmarks|conformance-cheats)\.md$|^docs\/contribute\/(?:voice|sentences)\.md$/

export function examinePage(path, text) {
  const { sentences, cells } = readMarkdown(text)
  const prose = sentences.map((sentence) => sentence.text)
  const figures = { ...measure(prose), words: [...prose, ...cells.map((cell) => cell.text)].flatMap(wordsIn).length }
  if (quoted.test(path)) return { ...figures, prose, problems: [] }
  const generated = isGenerated(path, text)
  const spoken = [...sentences, ...cells]
  const problems = [
    ...spoken.flatMap(({ text: sentence, line }) => findDialect(sentence).map((found) => ({ path, line, ...found }))),
    ...cells
      .filter(({ shown }) => shown.length > limits.cell)
      .map(({ shown, line }) => ({ path, line, rule: `cell of ${shown.length} characters`, text: clip(shown) })),
  ]
  if (generated) return { ...figures, prose, problems }
  const tooLong = sentences
    .filter(({ text: sentence }) => wordsIn(sentence).length > limits.sentence)
    .map(({ text: sentence, line }) => ({
      path,
      line,
      rule: `${wordsIn(sentence).length} words in a sentence`,
      text: clip(sentence),
    }))
  const heavy = [
    ...(figures.passive > limits.pagePassive && prose.length > 10
      ? [{ path, line: 1, rule: 'passive', text: `${Math.round(figures.passive * 100)} % of its sentences` }]
      : []),
    ...(figures.grade > limits.pageGrade && prose.length > 10
      ? [{ path, line: 1, rule: 'reading grade', text: String(figures.grade) }]
      : []),
  ]
  return { ...figures, prose, problems: [...problems, ...tooLong, ...heavy] }
}

/** Figures of all pages that people write. */
export function summarize(pages) {
  const written = pages.filter(({ generated }) => !generated)
  const { passive, grade } = measure(written.flatMap(({ prose }) => prose))
  const words = written
    .filter(({ path }) => path.startsWith('docs/') && !quoted.test(path))
    .reduce((sum, page) => sum + page.words, 0)
  const over = (rule, value, limit) =>
    value > limit ? [{ path: 'docs', line: 1, rule, text: `${value}, at most ${limit}` }] : []
  return {
    words,
    passive,
    grade,
    problems: [
      ...over('words', words, limits.words),
      ...over('passive', passive, limits.passive),
      ...over('reading grade', grade, limits.grade),
    ],
  }
}

function findDialect(text) {
  return dialect.flatMap(([pattern, instead]) => {
    const found = pattern.exec(text)
    return found ? [{ rule: `"${found[0]}"`, text: `write ${instead}: ${clip(text)}` }] : []
  })
}

/** Sentences and table cells of a page, without code, links and markup, each with its line. */
export function readMarkdown(text) {
  const sentences = []
  const cells = []
  let paragraph = { text: '', line: 1 }
  let fence
  const flush = () => {
    for (const sentence of splitSentences(paragraph.text)) sentences.push({ text: sentence, line: paragraph.line })
    paragraph = { text: '', line: 1 }
  }
  const lines = text.replace(/^---\n[\s\S]*?\n---\n/, (front) => front.replaceAll(/[^\n]/g, '')).split('\n')
  for (const [index, raw] of lines.entries()) {
    const line = index + 1
    const mark = /^\s*(```+|~~~+)/.exec(raw)?.[1]
    if (fence !== undefined || mark !== undefined) {
      flush()
      if (fence === undefined) fence = mark
      else if (mark?.startsWith(fence)) fence = undefined
    } else if (/^\s*\|/.test(raw)) {
      flush()
      const row = raw
        .trim()
        .replace(/^\||\|$/g, '')
        .split(/(?<!\\)\|/)
      if (!/^[\s|:-]+$/.test(raw))
        for (const cell of row) cells.push({ text: plain(cell).trim(), shown: visibleText(cell), line })
    } else if (raw.trim() === '' || (/^(?: {4,}|\t)\S/.test(raw) && paragraph.text === '') || /^#|^<!--/.test(raw)) {
      flush()
    } else {
      const item = /^\s*(?:[-*]|\d+\.)\s/.test(raw)
      if (item) flush()
      if (paragraph.text === '') paragraph.line = line
      paragraph.text += ` ${plain(raw.replace(/^\s*(?:[-*>]|\d+\.)\s+/, ''))}`
    }
  }
  flush()
  return { sentences, cells }
}

/** What a reader sees of a cell: code as it is, links by their text. */
const visibleText = (cell) =>
  cell
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/\*\*|`/g, '')
    .replaceAll('&lt;', '<')
    .trim()

function plain(text) {
  return text
    .replaceAll(/!\[([^\]]*)\]\([^)]*\)/g, '')
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/`[^`]*`/g, 'code')
    .replaceAll(/<[^>]*>|\*\*|__|(?<=\s|^)_|_(?=\s|$|[.,;])/g, '')
}

const splitSentences = (text) =>
  text
    .split(/(?<=[.!?:][)"”]?)\s+(?=["“(]?[A-Z0-9])/)
    .map((sentence) => sentence.trim())
    .filter((sentence) => wordsIn(sentence).length > 2)

const wordsIn = (text) => text.match(/[\p{L}\p{N}][\p{L}\p{N}'’./-]*/gu) ?? []

const irregular =
  'begun|bound|broken|brought|built|caught|chosen|cut|done|drawn|driven|found|forgotten|given|gone|held|hidden|kept|known|laid|left|lost|made|meant|met|paid|put|read|run|said|seen|sent|set|shown|split|spent|stolen|taken|thrown|told|torn|understood|written'
const passiveVoice = new RegExp(
  `\\b(?:am|is|are|was|were|be|been|being|gets?|got)\\s+(?:(?:not|never|always|also|only|then|now|still|already|often|\\w+ly)\\s+)*(?:(?!red\\b)\\w+ed|${irregular})\\b`,
  'i',
)

function measure(prose) {
  const words = prose.flatMap(wordsIn)
  if (prose.length === 0 || words.length === 0) return { words: 0, passive: 0, grade: 0 }
  const syllables = words.reduce((sum, word) => sum + countSyllables(word), 0)
  const grade = 0.39 * (words.length / prose.length) + 11.8 * (syllables / words.length) - 15.59
  return {
    words: words.length,
    passive: prose.filter((sentence) => passiveVoice.test(sentence)).length / prose.length,
    grade: Math.round(grade * 10) / 10,
  }
}

function countSyllables(word) {
  const groups = word
    .toLowerCase()
    .replace(/(?:es|ed|e)$/, '')
    .match(/[aeiouy]+/g)
  return Math.min(4, Math.max(1, groups?.length ?? 1))
}

const clip = (text) => (text.length > 90 ? `${text.slice(0, 90)}…` : text)
