import type { Sprint } from '../../core/sprint.ts'
import type { Way } from '../../core/way.ts'
import { goalWay, previewGoal } from '../goal/goal-way.ts'
import type { ModeChoice } from '../goal/iteration-mode.ts'
import { afterIteration, startIteration } from '../goal/next-iteration.ts'
import { buildNotesPrompt, notesReporting } from './notes-prompt.ts'
import { readLock } from './read-lock.ts'

const unknownFolder = 'your notes folder'

/** Works towards a goal without steps: the agent keeps its own notes, and deletes a lock when it is done or stuck. */
export const notesWay: Way = {
  ...goalWay,
  next: (sprint, at) => startIteration(sprint, at, { chooseMode }),
  preview: (sprint, mode) => previewGoal(sprint, chooseMode(sprint), mode),
  prompt: (sprint, { notesFolder = unknownFolder }) => buildNotesPrompt(sprint, notesFolder),
  reporting: ({ notesFolder = unknownFolder }) => notesReporting(notesFolder),
  usesLock: true,
  read: ({ text, lock }) => readLock(lock ?? { exists: true }, text),
  onEnded: (sprint, live, at, pause) => afterIteration(sprint, live, at, { chooseMode, pause }),
}

/** The agent finds its own work. */
const chooseMode = (_sprint: Sprint): ModeChoice => ({ mode: 'executing', idleCount: 0 })
