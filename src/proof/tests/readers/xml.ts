/** As much of XML as reports of tests use: elements, attributes, text. No namespaces, no document types, no entities of its own. */
export type XmlElement = {
  readonly tag: string
  readonly attributes: Readonly<Record<string, string>>
  readonly children: readonly XmlElement[]
  readonly text: string
}

type OpenElement = { tag: string; attributes: Record<string, string>; children: OpenElement[]; text: string }

/** No report is as deep as this; a text that is was made to exhaust the stack. */
const deepest = 200

/**
 * The root element; undefined if the text ends before its root does. By hand and not by one expression, because the code under
 * test can write the text: every character is looked at a fixed number of times.
 */
export function parseXml(text: string): XmlElement | undefined {
  const top: OpenElement = { tag: '', attributes: {}, children: [], text: '' }
  const open = [top]
  let end = 0
  for (let start = text.indexOf('<'); start !== -1; start = text.indexOf('<', end)) {
    const current = open.at(-1) ?? top
    current.text += unescapeXml(text.slice(end, start))
    const markup = readMarkup(text, start)
    if (!markup || open.length > deepest) return undefined
    end = markup.end
    if (markup.data !== undefined) current.text += markup.data
    if (markup.tag === undefined) continue
    const [, closing, name = '', attributes = ''] = /^(\/?)([^\s/]*)([\s\S]*)$/.exec(markup.tag) ?? []
    if (closing) {
      if (open.length === 1 || current.tag !== name) return undefined
      open.pop()
      continue
    }
    const element: OpenElement = { tag: name, attributes: parseAttributes(attributes), children: [], text: '' }
    current.children.push(element)
    if (!markup.tag.endsWith('/')) open.push(element)
  }
  return open.length === 1 ? top.children[0] : undefined
}

type Markup = { readonly end: number; readonly data?: string; readonly tag?: string }

const ignored = [
  ['<!--', '-->'],
  ['<?', '?>'],
  ['<!', '>'],
] as const

/** What starts at a `<`: data, a tag, or something that says nothing about tests. */
function readMarkup(text: string, start: number): Markup | undefined {
  if (text.startsWith('<![CDATA[', start)) {
    const close = text.indexOf(']]>', start)
    return close === -1 ? undefined : { end: close + 3, data: text.slice(start + 9, close) }
  }
  const [, closer] = ignored.find(([opener]) => text.startsWith(opener, start)) ?? []
  if (closer) {
    const close = text.indexOf(closer, start)
    return close === -1 ? undefined : { end: close + closer.length }
  }
  const close = findTagEnd(text, start)
  return close === -1 ? undefined : { end: close + 1, tag: text.slice(start + 1, close) }
}

/** A `>` inside of quotes does not end a tag. */
function findTagEnd(text: string, start: number): number {
  let quote = ''
  for (let at = start + 1; at < text.length; at += 1) {
    const character = text.charAt(at)
    if (quote !== '') quote = character === quote ? '' : quote
    else if (character === '"' || character === "'") quote = character
    else if (character === '>') return at
    else if (character === '<') return -1
  }
  return -1
}

function parseAttributes(text: string): Record<string, string> {
  const pairs = [...text.matchAll(/\s([^\s="'<>]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g)]
  return Object.fromEntries(pairs.map(([, name = '', double, single]) => [name, unescapeXml(double ?? single ?? '')]))
}

const entities: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }

function unescapeXml(text: string): string {
  if (!text.includes('&')) return text
  return text.replace(
    /&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(\w+));/gi,
    (whole, hex?: string, decimal?: string, name = '') => {
      if (hex ?? decimal) return codePoint(hex ? Number.parseInt(hex, 16) : Number(decimal))
      return entities[name] ?? whole
    },
  )
}

const codePoint = (code: number): string => (code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd')

/** Every element with this tag, at any depth, with the elements around it. */
export function findElements(root: XmlElement, tag: string): { element: XmlElement; around: readonly XmlElement[] }[] {
  const visit = (element: XmlElement, around: readonly XmlElement[]): ReturnType<typeof findElements> => [
    ...(element.tag === tag ? [{ element, around }] : []),
    ...element.children.flatMap((child) => visit(child, [...around, element])),
  ]
  return visit(root, [])
}
