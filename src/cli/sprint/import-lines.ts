import type { ImportReport } from '../../storage/state/read-seed.ts'
import { displayPath } from '../io/display-path.ts'
import type { Io } from '../io/io.ts'

/** What Ralph made of the PROGRESS.yaml of another program. */
export const importLines = ({ copy, notes }: ImportReport, io: Io): string[] => [
  `imported the PROGRESS.yaml of another program; the original is ${displayPath(copy, io)}`,
  ...notes.map((note) => `  ${note}`),
]
