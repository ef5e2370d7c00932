import { isRecord, type FileRecord } from './file-fields.ts'

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '))

const work =
  'id prompt model status started-at completed-at summary error error-category retry-count elapsed parallel-task-id'

/** By their place in the file: fields that the import reads, and those that Ralph derives itself. */
const known: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  [
    '',
    words(
      'sprint-id status mode goal ralph per-iteration-hooks dynamic-steps hook-tasks ralph-exit stats phases dependency-graph prompts human-needed error pause-reason failed-phase breakpoint-phase-id current parallel-tasks name owner created workflow',
    ),
  ],
  ['ralph', words('idle-threshold min-iterations idle-count goal-complete-attempted-at')],
  ['ralph-exit', words('detected-at iteration final-summary')],
  ['human-needed', words('reason details')],
  [
    'stats',
    words(
      'started-at completed-at elapsed current-iteration max-iterations total-phases completed-phases total-steps completed-steps',
    ),
  ],
  ['dynamic-steps[]', words('id prompt status added-at added-in-iteration completed-at')],
  ['hook-tasks[]', words('iteration hook-id status pid transcript spawned-at completed-at exit-code')],
  ['phases[]', words(`${work} parallel wait-for-parallel break gate steps`)],
  ['phases[].steps[]', words(`${work} depends-on phases`)],
  ['phases[].steps[].phases[]', words(`${work} parallel wait-for-parallel break gate`)],
])

/** Lists the fields that an import leaves behind, each once, such as `owner-notes` and `dynamic-steps[].owner`. */
export const listUnknownFields = (file: FileRecord): string[] => [...new Set(listUnder(file, ''))]

function listUnder(record: FileRecord, place: string): string[] {
  const names = known.get(place)
  if (!names) return []
  return Object.entries(record).flatMap(([name, value]) => {
    const path = place === '' ? name : `${place}.${name}`
    if (!names.has(name)) return [path]
    if (Array.isArray(value)) return value.filter(isRecord).flatMap((entry) => listUnder(entry, `${path}[]`))
    return isRecord(value) ? listUnder(value, path) : []
  })
}
