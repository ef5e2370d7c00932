import type { Progress, SprintMode, SprintProtocol } from '../../contract/progress.ts'
import type { Way } from '../core/way.ts'
import { classicWay } from './classic/classic-way.ts'
import { goalWay } from './goal/goal-way.ts'
import { notesWay } from './notes/notes-way.ts'
import { phasesWay } from './phases/phases-way.ts'

/** All ways, by the protocol and the mode of a sprint. */
const ways: Readonly<Record<SprintProtocol, Readonly<Record<SprintMode, Way>>>> = {
  report: { ralph: goalWay, standard: phasesWay },
  classic: { ralph: classicWay, standard: phasesWay },
  notes: { ralph: notesWay, standard: notesWay },
}

export const getWay = ({ way }: { readonly way: Pick<Progress, 'mode' | 'protocol'> }): Way =>
  ways[way.protocol ?? 'report'][way.mode]
