// Preloaded into a run (`node --expose-gc --require scripts/heap-probe.cjs …`): notes what is left after a full collection, so that a
// leak can be told from a heap that V8 has not tidied yet. One line of JSON each time, into the file that HEAP_NOTES names.
const { appendFileSync } = require('node:fs')

const { HEAP_NOTES: file, HEAP_NOTES_MS: everyMs = '10000' } = process.env
// Programs that the run starts are none of ours.
delete process.env.HEAP_NOTES

if (file && globalThis.gc) {
  setInterval(() => {
    globalThis.gc()
    const { heapUsed, external, rss } = process.memoryUsage()
    const megabytes = (bytes) => Math.round(bytes / 1e4) / 100
    const note = {
      at: Date.now(),
      pid: process.pid,
      heap: megabytes(heapUsed),
      outside: megabytes(external),
      rss: megabytes(rss),
    }
    appendFileSync(file, `${JSON.stringify(note)}\n`)
  }, Number(everyMs)).unref()
}
