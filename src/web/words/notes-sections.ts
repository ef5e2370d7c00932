/** One task in the notes of an agent. */
export type NotesSection = { readonly task: string; readonly at?: number | undefined; readonly text: string }

const heading = /^## Task \(([^)]*)\)\s*$/m
const placeholder = /^### .+\n+\((?:to be found out|nothing yet|links to other files)\)\s*$/gm

/**
 * Splits the notes into their tasks, newest first. Headings that the agent has not filled in are dropped. A task may contain
 * headings itself: `goal` is the one on screen.
 */
export function splitNotes(text: string, goal = ''): readonly NotesSection[] {
  const parts = text.split(/^(?=## Task \()/m)
  const tasks = parts.filter((part) => heading.test(part)).map((part) => parseSection(part, goal.trim()))
  if (tasks.length === 0) return [{ task: '', text: text.trim() }]
  return tasks.toReversed()
}

function parseSection(part: string, goal: string): NotesSection {
  const at = Date.parse(heading.exec(part)?.[1] ?? '')
  const body = part
    .replace(heading, '')
    .replaceAll(placeholder, '')
    .replace(/\n---\s*$/, '')
    .trim()
  const isGoal = goal !== '' && body.startsWith(goal) && /^\s*(?:### |$)/.test(body.slice(goal.length))
  const end = isGoal ? goal.length : body.search(/^### /m)
  const task = (end === -1 ? body : body.slice(0, end)).trim()
  return { task, ...(Number.isFinite(at) && { at }), text: end === -1 ? '' : body.slice(end).trim() }
}

/** The section of a sprint: its task, as near to its start as possible. */
export function findSection(
  sections: readonly NotesSection[],
  sprint: { readonly goal: string; readonly createdAt: number },
): NotesSection | undefined {
  const distance = ({ at }: NotesSection): number => Math.abs((at ?? 0) - sprint.createdAt)
  return sections.filter(({ task }) => task === sprint.goal.trim()).toSorted((a, b) => distance(a) - distance(b))[0]
}
