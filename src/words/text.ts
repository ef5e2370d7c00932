// oxlint-disable no-control-regex -- what an agent or a file says must not steer the terminal that shows it
const colors = /\u001b\[[0-9;?]*[A-Za-z]/g
const unprintable = /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g

/** Colours, cursor movements, titles and links, as terminals read them; the same as Node's stripVTControlCharacters. */
const escapeSequences =
  /[\u001B\u009B][[\]()#;?]*(?:(?:(?:(?:;[-a-zA-Z\d/#&.:=?%@~_]+)*|[a-zA-Z\d]+(?:;[-a-zA-Z\d/#&.:=?%@~_]*)*)?(?:\u0007|\u001B\u005C|\u009C))|(?:(?:\d{1,4}(?:;\d{0,4})*)?[\dA-PR-TZcf-ntqry=><~]))/g

export const stripEscapeSequences = (text: string): string => text.replaceAll(escapeSequences, '')

/** Foreign text as one harmless line. */
export const toOneLine = (text: string): string =>
  text.replaceAll(colors, '').replaceAll(/\s+/g, ' ').replaceAll(unprintable, '').trim()

export const clipLine = (text: string, width: number): string =>
  text.length <= width ? text : `${text.slice(0, width - 1)}…`

export const lastLine = (output: string): string => output.trimEnd().split('\n').at(-1)?.trim() ?? ''

/** A goal on one line: its first paragraph, since the rest is mostly criteria and earlier work. */
export const toShortGoal = (goal: string): string => toOneLine(goal.trim().split(/\n\s*\n/)[0] ?? '')
