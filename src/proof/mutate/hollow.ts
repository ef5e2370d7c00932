import { codeLanguage, maskCode } from './code-text.ts'

/** The code with functions that do nothing and return nothing; undefined if it has none, or the language is not known. */
export function hollowCode(path: string, text: string): string | undefined {
  const language = codeLanguage(path)
  if (language === undefined || text.length > maxCharacters) return undefined
  const masked = maskCode(text, language, 'comments-and-strings')
  if (language === 'python') return replaceBodies(text, pythonBodies(masked))
  return isScript.test(path) ? replaceBodies(text, scriptBodies(masked)) : undefined
}

const maxCharacters = 500_000
/** Compiled languages refuse a function that returns nothing. */
const isScript = /\.[cm]?[jt]sx?$/

type Body = { readonly from: number; readonly to: number; readonly instead: string }

function replaceBodies(text: string, bodies: readonly Body[]): string | undefined {
  if (bodies.length === 0) return undefined
  let result = ''
  let at = 0
  for (const { from, to, instead } of bodies) {
    result += text.slice(at, from) + instead
    at = to
  }
  return result + text.slice(at)
}

/** A function, an arrow, or a method; a constructor has to call the one above it. */
const scriptFunction =
  /\bfunction\b[^(]*\(|=>\s*|(?:^|[{};,])\s*(?:(?:async|static|get|set|public|private|protected|override)\s+|\*\s*)*(?!(?:if|for|while|switch|catch|with|return|function|constructor|super|await|new|typeof)\b)#?[\w$]+\s*(?:<[^>(]*>)?\(/gm

function scriptBodies(masked: string): Body[] {
  const bodies: Body[] = []
  scriptFunction.lastIndex = 0
  for (let match = scriptFunction.exec(masked); match; match = scriptFunction.exec(masked)) {
    const end = match.index + match[0].length
    const body = match[0].startsWith('=>') ? arrowBody(masked, end) : blockAfterSignature(masked, end - 1)
    if (!body) continue
    bodies.push(body)
    scriptFunction.lastIndex = body.to
  }
  return bodies
}

function blockAfterSignature(masked: string, open: number): Body | undefined {
  const close = findClosing(masked, open)
  if (close === undefined) return undefined
  const [type = ''] = /^\s*(?::[^{};=]*)?/.exec(masked.slice(close + 1)) ?? []
  return block(masked, close + 1 + type.length)
}

function block(masked: string, open: number): Body | undefined {
  if (masked[open] !== '{') return undefined
  const close = findClosing(masked, open)
  return close === undefined ? undefined : { from: open, to: close + 1, instead: '{}' }
}

/** An expression ends at the first comma, semicolon or bracket that is not its own, or where a line can end. */
function arrowBody(masked: string, from: number): Body | undefined {
  if (masked[from] === '{') return block(masked, from)
  let at = from
  while (at < masked.length) {
    const character = masked[at] ?? ''
    if ('([{'.includes(character)) {
      const close = findClosing(masked, at)
      if (close === undefined) return undefined
      at = close + 1
    } else if (',;)]}'.includes(character)) break
    else if (
      character === '\n' &&
      !/^\s*[.?:&|+\-*/%=<>]/.test(masked.slice(at + 1)) &&
      masked.slice(from, at).trim() !== ''
    )
      break
    else at++
  }
  return { from, to: at, instead: 'undefined' }
}

const pairs: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' }

function findClosing(masked: string, open: number): number | undefined {
  const expected: string[] = []
  for (let at = open; at < masked.length; at++) {
    const character = masked[at] ?? ''
    const closing = pairs[character]
    if (closing !== undefined) expected.push(closing)
    else if (')]}'.includes(character)) {
      if (expected.pop() !== character) return undefined
      if (expected.length === 0) return at
    }
  }
  return undefined
}

const pythonFunction = /^([ \t]*)(?:async[ \t]+)?def[ \t]+\w+[ \t]*\(/gm

/** A body is what is indented deeper than its `def`. */
function pythonBodies(masked: string): Body[] {
  const bodies: Body[] = []
  pythonFunction.lastIndex = 0
  for (let match = pythonFunction.exec(masked); match; match = pythonFunction.exec(masked)) {
    const close = findClosing(masked, match.index + match[0].length - 1)
    const colon = close === undefined ? -1 : masked.indexOf(':', close)
    if (colon === -1) continue
    const lineEnd = masked.indexOf('\n', colon)
    const indent = match[1] ?? ''
    const below = new RegExp(`(?:\\n(?:[ \\t]*(?=\\n|$)|${indent}[ \\t]+[^\\n]*))*`, 'y')
    below.lastIndex = lineEnd === -1 ? masked.length : lineEnd
    const [rest = ''] = below.exec(masked) ?? []
    const to = (lineEnd === -1 ? masked.length : lineEnd) + rest.length
    bodies.push({ from: colon + 1, to, instead: ' return None' })
    pythonFunction.lastIndex = to
  }
  return bodies
}
