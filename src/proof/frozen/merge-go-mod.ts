/** A go.mod with some directives taken from another one. */
export function mergeGoMod(onto: string, from: string, directives: readonly string[]): string {
  const isTaken = ({ directive }: Statement) => directives.includes(directive)
  const [mine, theirs] = [statements(onto), statements(from)]
  if (print(mine.filter(isTaken)) === print(theirs.filter(isTaken))) return onto
  return `${[...mine.filter((each) => !isTaken(each)), ...theirs.filter(isTaken)].map(({ text }) => text).join('\n')}\n`
}

/** Modules that are required in another version, or in only one of the two. */
export function listChangedModules(one: string, other: string): string[] {
  const [mine, theirs] = [listRequired(one), listRequired(other)]
  return [...new Set([...mine.keys(), ...theirs.keys()])].filter((name) => mine.get(name) !== theirs.get(name))
}

const listRequired = (text: string): ReadonlyMap<string, string> =>
  new Map(
    statements(text)
      .filter(({ directive }) => directive === 'require')
      .flatMap((each) => [...each.text.matchAll(/^[ \t]*(?:require[ \t]+)?([^\s()/][^\s()]*)[ \t]+(v\S+)/gm)])
      .map(([, name = '', version = '']) => [name, version]),
  )

const print = (list: readonly Statement[]): string => list.map(({ text }) => text.trim()).join('\n')

type Statement = { readonly directive: string; readonly text: string }

/** A line, or a block in parentheses. */
function statements(text: string): Statement[] {
  const found: Statement[] = []
  const lines = text.split('\n')
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? ''
    const code = line.replace(/\/\/.*/, '').trim()
    if (code === '') continue
    const first = at
    if (code.endsWith('(')) while (at < lines.length - 1 && !/^\s*\)/.test(lines[at] ?? '')) at++
    found.push({ directive: /^[a-z]+/.exec(code)?.[0] ?? '', text: lines.slice(first, at + 1).join('\n') })
  }
  return found
}
