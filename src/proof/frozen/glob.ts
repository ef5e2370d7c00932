/**
 * Globs as in `.gitignore` and `tsconfig.json`: a star is any text but a slash, two stars any folders, `?` one character,
 * `{a,b}` either, `[ab]` one of. A pattern without a slash is a name at any depth; a folder stands for all that is in it.
 */
function globPattern(glob: string): string {
  const trimmed = glob.replace(/^\.?\//, '').replace(/\/+$/, '')
  const anchor = trimmed.replace(/\{[^}]*\}/g, '').includes('/') ? '' : '(?:.*/)?'
  return `${anchor}${translate(trimmed)}(?:/.*)?`
}

/** Whether a path matches one of the globs. */
export function globMatcher(globs: readonly string[]): (path: string) => boolean {
  if (globs.length === 0) return () => false
  const pattern = new RegExp(`^(?:${globs.map(globPattern).join('|')})$`, 's')
  return (path) => pattern.test(path)
}

export const isAnchored = (glob: string): boolean => !globPattern(glob).startsWith('(?:.*/)?')

const tokens = /\*\*\/|\/\*\*$|\*+|\?|\[[^\]/]+\]|[{},]|[^*?[{},]+|\[/g

function translate(glob: string): string {
  let depth = 0
  return (glob.match(tokens) ?? [])
    .map((token) => {
      if (token === '{') depth++
      if (token === '}' && depth === 0) return '\\}'
      if (token === '}') depth--
      if (token === ',') return depth > 0 ? '|' : ','
      return known[token] ?? (/^\[.+\]$/.test(token) ? token.replace(/^\[!/, '[^') : literal(token))
    })
    .join('')
}

const known: Readonly<Record<string, string>> = {
  '**/': '(?:.*/)?',
  '/**': '/.*',
  '**': '.*',
  '*': '[^/]*',
  '?': '[^/]',
  '{': '(?:',
  '}': ')',
}

const literal = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
