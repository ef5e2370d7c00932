const keyword = 'RALPH_COMPLETE'
/** Bounds the work on a message of any size. */
const maxMentions = 100
const maxBefore = 200
const maxAfter = 4000

/**
 * Finds the last `RALPH_COMPLETE: <summary>` of a message: at the start of a line or sentence, plain or in bold, code, a list, a
 * heading or a quote, with its summary on the same or the next line. Text that also occurs in the prompt is an echo; the
 * placeholder `[summary]` is no summary.
 */
export function findCompletion(text: string, prompt: string): string | undefined {
  let isEcho: ((claim: string) => boolean) | undefined
  let index = text.lastIndexOf(keyword)
  for (let mentions = 0; index !== -1 && mentions < maxMentions; mentions += 1) {
    const summary = readSummaryAt(text, index)
    if (summary !== undefined) {
      isEcho ??= createLooseEchoTest(prompt)
      if (!isEcho(`${keyword}:${summary}`)) return summary
    }
    index = index === 0 ? -1 : text.lastIndexOf(keyword, index - 1)
  }
  return undefined
}

function readSummaryAt(text: string, index: number): string | undefined {
  const near = text.slice(index < maxBefore ? 0 : index - maxBefore, index)
  const before = near.slice(near.lastIndexOf('\n') + 1)
  if (!isStartOfLine(before) && !sentenceEnd.test(before)) return undefined
  const after = text.slice(index + keyword.length, index + keyword.length + maxAfter)
  const colon = colonForm.exec(after)?.[0]
  if (colon === undefined) return undefined
  const [line = '', ...following] = after.slice(colon.length).split('\n')
  const opening = /[*_`]*$/.exec(before)?.[0] ?? ''
  const summary = trimClosing(line.trim(), opening) || trimDecoration(following.find((next) => next.trim() !== ''))
  return summary === '' || placeholder.test(summary) ? undefined : summary
}

/** Emphasis may end before or after the colon. Our prompts write user text with a blank before the colon. */
const colonForm = /^[*_`]{0,4} ?:[*_`]{0,4}/

const sentenceEnd = /[.!?…)]["'”]?\s+[*_`]{0,4}$/

/** Only marks of lists, headings, quotes and emphasis, or the number of a list item, come before it. */
const isStartOfLine = (before: string): boolean => /^(\d{1,3}[.)])?$/.test(before.replaceAll(decoration, ''))

const decoration = /[\s>*_`#~|+•-]+/g

/** A summary may itself end with code or emphasis, so only marks that opened before the keyword are removed. */
function trimClosing(line: string, opening: string): string {
  const closing = opening.split('').toReversed().join('')
  return closing !== '' && line.endsWith(closing) ? line.slice(0, -closing.length).trim() : line
}

const trimDecoration = (line = ''): string =>
  line
    .trim()
    .replace(/^(?:[>#*+•-]{1,6}\s+)?[*_`~]{0,4}/, '')
    .trim()

const placeholder = /^(?:\[|<)?(?:your |detailed |final )?summary(?:\]|>)?[.`*]*$|^\.{3}$|^…$/i

/** Ignores blanks and decoration, so that a quoted or indented prompt is an echo too. */
function createLooseEchoTest(prompt: string): (claim: string) => boolean {
  const plainPrompt = prompt.replaceAll(decoration, '')
  return (claim) => plainPrompt.includes(claim.replaceAll(decoration, ''))
}
