// Preloaded into a run (`node --expose-gc --require scripts/heap-probe.cjs …`): records the heap after a full collection, to
// distinguish a leak from a heap that V8 has not collected yet. Appends one line of JSON each time to the file in HEAP_NOTES.
const { appendFileSync } = require('node:fs')

const { HEAP_NOTES: file, HEAP_NOTES_MS: everyMs = '10000' } = process.env
// Ignore programs that the run starts.
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
