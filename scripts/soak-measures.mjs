import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Memory in MB and open files of a process; undefined without /proc, or when the process has just exited. */
export function takeSample(pid) {
  try {
    const rss = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
    if (Number.isNaN(rss)) return undefined
    return { rss: Math.round(rss * 10) / 10, files: readdirSync(`/proc/${pid}/fd`).length }
  } catch {
    return undefined
  }
}

export function measureBytes(folder) {
  let bytes = 0
  for (const name of readdirSync(folder, { recursive: true }))
    bytes += statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0
  return bytes
}

/** Least squares, per hour. */
export function fitSlope(samples, field) {
  const mean = (of) => samples.reduce((sum, one) => sum + of(one), 0) / samples.length
  const hours = ({ at }) => at / 3_600_000
  const [x, y] = [mean(hours), mean((one) => one[field])]
  const spread = mean((one) => (hours(one) - x) ** 2)
  return Math.round((mean((one) => (hours(one) - x) * (one[field] - y)) / spread) * 100) / 100
}

/** Bytes per call of the agent in the first and the second half. */
export function measureGrowth(sizes) {
  const middle = sizes[Math.floor(sizes.length / 2)]
  const per = (from, to) => (to.calls > from.calls ? Math.round((to.bytes - from.bytes) / (to.calls - from.calls)) : 0)
  return { firstHalf: per(sizes[0], middle), secondHalf: per(middle, sizes.at(-1)) }
}

/** The heap records of the longest run. */
export function heapNotes(file) {
  if (!existsSync(file)) return []
  const runs = new Map()
  for (const line of readFileSync(file, 'utf8').trim().split('\n')) {
    const note = JSON.parse(line)
    runs.set(note.pid, [...(runs.get(note.pid) ?? []), note])
  }
  return [...runs.values()].reduce((long, run) => (run.length > long.length ? run : long), [])
}

const mayGrowMb = 3

/**
 * A sentence if the heap after collections grew: compares the minimum of the last fifth with the maximum of the second, so that a
 * record taken in the middle of an iteration does not look like a leak. Undefined if there are too few records.
 */
export function findLeak(notes) {
  if (notes.length < 40) return undefined
  const fifth = (n) => notes.slice((notes.length * n) / 5, (notes.length * (n + 1)) / 5).map(({ heap }) => heap)
  const [before, after] = [Math.max(...fifth(1)), Math.min(...fifth(4))]
  return after > before + mayGrowMb ? `its heap grew from ${before} to ${after} MB, collected` : undefined
}
