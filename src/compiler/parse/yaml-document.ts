import { Composer, Lexer, type Node, Parser } from 'yaml'

/** Limits for a file. Legitimate files stay far below; a hostile one is refused before it is built. */
export const fileLimits = {
  bytes: 1_048_576,
  lines: 100_000,
  depth: 100,
  /** Outside of lists. */
  lexemes: 15_000,
  /** Items of all lists at the first two levels, where a sprint may be long. */
  items: 12_000,
  /** Lexemes of one item beyond this count as if they stood outside of lists. */
  lexemesOfItem: 300,
  lexemesInAll: 400_000,
  aliases: 100,
  /** Total nodes that aliases refer to. */
  aliasedNodes: 10_000,
  /** Maximum number of reported syntax errors. */
  syntaxErrors: 20,
} as const

/** Why a text is not an acceptable YAML document. */
export type YamlProblem = { readonly offset: number; readonly message: string }

export type ComposedDocument = { readonly document: Node | null; readonly troubles: readonly YamlProblem[] }

/** Composes the nodes of a YAML text. Refuses anything too large before building it. */
export function composeDocument(text: string): ComposedDocument {
  if (exceedsBytes(text)) return refuseDocument(0, 'The file is larger than 1 MiB')
  if (exceedsLines(text)) return refuseDocument(0, 'The file has too many lines')
  return composeNodes(text)
}

/** Strings are UTF-16; the limit counts UTF-8 bytes. */
function exceedsBytes(text: string): boolean {
  if (text.length > fileLimits.bytes) return true
  let bytes = text.length
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit > 0x7f) bytes += unit > 0x7ff && (unit < 0xd800 || unit > 0xdfff) ? 2 : 1
  }
  return bytes > fileLimits.bytes
}

function exceedsLines(text: string): boolean {
  let lines = 0
  for (let at = text.indexOf('\n'); at !== -1 && lines <= fileLimits.lines; at = text.indexOf('\n', at + 1)) lines += 1
  return lines > fileLimits.lines
}

/** Drives lexer, parser and composer by hand, to check depth and size before building anything large. */
function composeNodes(text: string): ComposedDocument {
  const parser = new Parser()
  const composer = new Composer({ schema: 'core', stringKeys: true, uniqueKeys: false, prettyErrors: false })
  const tokens = []
  const weigh = createSizeGuard()
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) tokens.push(token)
    if (parser.stack.length > fileLimits.depth) return refuseDocument(parser.offset, 'The file is nested too deeply')
    if (weigh(parser.stack) === 'too-heavy') return refuseDocument(parser.offset, 'The file has too many parts')
  }
  for (const token of parser.end()) tokens.push(token)
  const [document, second] = [...composer.compose(tokens, true, text.length)]
  if (second) return refuseDocument(second.range[0], 'The file contains more than one YAML document')
  const wrong = [...(document?.errors ?? []), ...(document?.warnings ?? [])]
  const fence = wrong.length === 0 ? undefined : findMarkdownFence(text)
  if (fence !== undefined) return refuseDocument(fence, 'Invalid YAML: this line is a fence of Markdown; remove it')
  const troubles = wrong
    .slice(0, fileLimits.syntaxErrors)
    .map(({ pos, message }) => ({ offset: pos[0], message: `Invalid YAML: ${message}` }))
  return { document: document?.contents ?? null, troubles }
}

/** A user may copy an example together with the line of Markdown around it. A fence within a text is indented. */
const findMarkdownFence = (text: string): number | undefined => /^(?:```|~~~)/m.exec(text)?.index

/** Counts lexemes as the parser sees them. A long list of small items is fine; the same amount of anything else is not. */
function createSizeGuard(): (stack: Parser['stack']) => 'fine' | 'too-heavy' {
  let inAll = 0
  let outside = 0
  let items = 0
  let lexemesOfItem = 0
  let list: unknown
  let length = 0
  return (stack) => {
    inAll += 1
    const [, root, first, second] = stack
    const current = root?.type !== 'block-map' ? undefined : first?.type === 'block-seq' ? first : second
    if (current?.type !== 'block-seq') outside += 1
    else if (current === list && current.items.length === length)
      outside += ++lexemesOfItem > fileLimits.lexemesOfItem ? 1 : 0
    else {
      list = current
      length = current.items.length
      lexemesOfItem = 0
      items += 1
    }
    const { lexemes, items: maxItems, lexemesInAll } = fileLimits
    return outside > lexemes || items > maxItems || inAll > lexemesInAll ? 'too-heavy' : 'fine'
  }
}

const refuseDocument = (offset: number, message: string): ComposedDocument => ({
  document: null,
  troubles: [{ offset, message }],
})
