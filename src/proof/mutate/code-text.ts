export type CodeLanguage = 'c-like' | 'python'

/** The languages whose comments and strings are known here, by the ending of a file. */
export function codeLanguage(path: string): CodeLanguage | undefined {
  if (/\.(?:[cm]?[jt]sx?|go|rs|java|kt|cs|c|cc|cpp|h|hpp|php|swift)$/.test(path)) return 'c-like'
  return path.endsWith('.py') ? 'python' : undefined
}

/** The text with comments, and strings if asked, as spaces: the same length and the same lines. */
export function maskCode(text: string, language: CodeLanguage, hidden: 'comments' | 'comments-and-strings'): string {
  const pattern = language === 'python' ? pythonTokens : cTokens
  return text.replaceAll(pattern, (token, ...rest: unknown[]) => {
    const at = typeof rest[0] === 'number' ? rest[0] : 0
    if (isComment(token)) return blank(token)
    if (token.startsWith('/') && !startsRegularExpression(text, at)) return token
    return hidden === 'comments' ? token : blank(token)
  })
}

const cTokens =
  /\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|"(?:\\[\s\S]|[^"\\\n])*"|'(?:\\[\s\S]|[^'\\\n])*'|`(?:\\[\s\S]|[^`\\])*`|\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*/g
const pythonTokens =
  /#[^\n]*|"""[\s\S]*?(?:"""|$)|'''[\s\S]*?(?:'''|$)|"(?:\\[\s\S]|[^"\\\n])*"|'(?:\\[\s\S]|[^'\\\n])*'/g

const isComment = (token: string): boolean => /^(?:\/\/|\/\*|#)/.test(token)
const blank = (token: string): string => token.replaceAll(/[^\n]/g, ' ')

/** After a value a slash divides. */
const startsRegularExpression = (text: string, at: number): boolean =>
  /(?:^|[([{,;=:!&|?+\-*%~^<>]|\b(?:return|typeof|case|in|of))\s*$/.test(text.slice(Math.max(0, at - 40), at))

/** Code that does nothing: an agent can add it to change a file without changing what the program does. */
const idle = /\bexport\s*\{\s*\}|\bpass\b|['"]use strict['"]|[\s;]+/g

/** The code without what has no effect; of other files every character counts. */
export function readEffect(path: string, text: string): string {
  const language = codeLanguage(path)
  return language ? maskCode(text, language, 'comments').replaceAll(idle, '') : text.trim()
}
