import { dirname } from 'node:path'

/** What the whole of `src` may have at most. Lower a number when you remove one; a higher one needs a reason in decision 22. */
export const limits = {
  filesPerFolder: 24,
  moduleLets: 5,
  modeBranches: 5,
}

const moduleLet = /^(?:export )?let /gm
/** Only `src/contract/way.ts` should ask which way a sprint works; the rest asks for the data that it needs. */
const modeBranch = /\b(?:mode [!=]== '(?:standard|ralph)'|protocol [!=]== '(?:notes|report|classic)')/g

const wayQuestion = /\b(?:isGoalDriven|isNotesProtocol)\(/g

export const countWayQuestions = (sources) => findMatches(sources, wayQuestion).length
export const countModuleLets = (sources) => findMatches(sources, moduleLet).length
export const countModeBranches = (sources) => findMatches(sources, modeBranch).length

/** Folders with their number of files, the fullest first. */
export function folderSizes(sources) {
  const sizes = new Map()
  for (const { path } of sources) sizes.set(dirname(path), (sizes.get(dirname(path)) ?? 0) + 1)
  return [...sizes].toSorted(([, a], [, b]) => b - a)
}

/** One line per limit that the sources exceed. */
export function findExcess(sources) {
  return [
    ...folderSizes(sources)
      .filter(([, size]) => size > limits.filesPerFolder)
      .map(
        ([folder, size]) =>
          `${folder} has ${size} files, at most ${limits.filesPerFolder} are allowed: split it by noun`,
      ),
    ...describeExcess('module-level let', findMatches(sources, moduleLet), limits.moduleLets),
    ...describeExcess('branches on mode or protocol', findMatches(sources, modeBranch), limits.modeBranches),
  ]
}

const describeExcess = (name, places, limit) =>
  places.length <= limit ? [] : [`${places.length} ${name}, at most ${limit} are allowed: ${places.join(', ')}`]

function findMatches(sources, pattern) {
  return sources.flatMap(({ path, text }) =>
    [...text.matchAll(pattern)].map(({ index }) => `${path}:${text.slice(0, index).split('\n').length}`),
  )
}
