/**
 * A walk lists the functions that a reader opens to follow one action, as an indented tree: `path function`, each below the
 * function that calls it. `via words` says what the caller writes, if it is not the function's name: a port, a callback, a table.
 * `back` marks a call that returns to a layer the walk had left. A function counts once; what only computes a value for its
 * caller is left out. `verifyWalk` proves that no function between two lines was left out.
 */
export function parseWalk(text) {
  const stack = []
  return text
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))
    .map((line) => {
      const depth = (line.length - line.trimStart().length) / 2
      const [, path, name, rest = ''] = /^(\S+) (\S+)(.*)$/.exec(line.trim()) ?? []
      const step = { path, name, via: / via (.+?)(?: back)?$/.exec(rest)?.[1], isBack: / back$/.test(rest) }
      stack.length = depth
      step.caller = stack[depth - 1]
      stack[depth] = step
      return step
    })
}

/** One line per step that is not where the walk says, or that its caller does not call. */
export function verifyWalk(steps, readSource) {
  return steps.flatMap((step) => {
    const body = findBody(readSource(step.path), step.name)
    if (body === undefined) return [`${step.path} has no function ${step.name}`]
    if (!step.caller) return []
    const caller = findBody(readSource(step.caller.path), step.caller.name) ?? ''
    const call = step.via ?? `${step.name.split('.').at(-1)}(`
    const [, between] = /^(\w+)\($/.exec(step.via ?? '') ?? []
    if (
      between &&
      new RegExp(`^\\s*(?:async )?(?:function|const) ${between}\\b`, 'm').test(readSource(step.caller.path))
    )
      return [`${step.name} leaves out ${between} (${step.caller.path})`]
    return caller.includes(call) ? [] : [`${step.caller.name} (${step.caller.path}) does not contain "${call}"`]
  })
}

export const countWalk = (steps) => ({
  functions: new Set(steps.map(({ path, name }) => `${path} ${name}`)).size,
  files: new Set(steps.map(({ path }) => path)).size,
  backTracks: steps.filter(({ isBack }) => isBack).length,
})

/** The text of a function; `outer.inner` is a function inside another one. Relies on the formatter's indentation. */
function findBody(source, name) {
  if (source === undefined) return undefined
  return name.split('.').reduce((text, part) => (text === undefined ? undefined : findDeclaration(text, part)), source)
}

function findDeclaration(text, name) {
  const lines = text.split('\n')
  const declaration = new RegExp(
    `^\\s*(?:export )?(?:(?:async )?function\\*? ${name}\\b|(?:const|let|class) ${name}\\b|(?:readonly |async )*['"]?${name}['"]?(?:\\(|: (?:async )?(?:\\(|<|\\w+ =>|function|\\w+\\()|,$))`,
  )
  const start = lines.findIndex((line) => declaration.test(line) && !/^\s*(?:return|await)\b/.test(line))
  if (start === -1) return undefined
  const indent = indentation(lines[start])
  let end = start + 1
  let inTemplate = isOdd(lines[start])
  for (; end < lines.length; end++) {
    const line = lines[end]
    const isText = inTemplate
    if (isOdd(line)) inTemplate = !inTemplate
    if (isText || line.trim() === '' || indentation(line) > indent) continue
    const closes = /^\s*[)}\]]/.test(line)
    if (closes && /[{(>]$/.test(line)) continue
    if (closes) end++
    break
  }
  return lines.slice(start, end).join('\n')
}

/** The text of a template may begin at any column. */
const isOdd = (line) => (line.match(/`/g)?.length ?? 0) % 2 === 1
const indentation = (line) => line.length - line.trimStart().length
