import type { WayKind } from '../../contract/way.ts'
import type { Sprint } from '../core/sprint.ts'
import type { Way } from '../core/way.ts'
import { classicWay } from './classic/classic-way.ts'
import { goalWay } from './goal/goal-way.ts'
import { notesWay } from './notes/notes-way.ts'
import { phasesWay } from './phases/phases-way.ts'

/** All ways, by the kind in the state of the sprint. */
const ways: Readonly<Record<WayKind, Way>> = {
  classic: classicWay,
  goal: goalWay,
  notes: notesWay,
  phases: phasesWay,
}

export const getWay = ({ way }: Pick<Sprint, 'way'>): Way => ways[way.kind]
