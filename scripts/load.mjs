// node scripts/load.mjs <count>: keeps the computer busy with this many processes, until its parent ends or it is ended by its id.
import { spawn } from 'node:child_process'

const count = Number(process.argv[2])
if (!(count > 0)) {
  console.error('node scripts/load.mjs <number of processes>')
  process.exit(1)
}
// Work like that of a build: computing, memory, and files that come and go.
const busy = `
const { mkdtempSync, rmSync, writeFileSync } = require('node:fs')
const folder = mkdtempSync(require('node:path').join(require('node:os').tmpdir(), 'ralph-test-load-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
process.on('SIGTERM', () => process.exit())
const turn = () => {
  if (process.ppid !== ${process.pid}) process.exit()
  const end = performance.now() + 200
  while (performance.now() < end) Array.from({ length: 10000 }, (_, n) => n * Math.random()).sort()
  writeFileSync(folder + '/file', 'x'.repeat(100000))
  setImmediate(turn)
}
turn()
`
const parent = process.ppid
const children = Array.from({ length: count }, () => spawn(process.execPath, ['-e', busy], { stdio: 'ignore' }))
const end = () => {
  for (const child of children) child.kill('SIGTERM')
  process.exit()
}
process.on('SIGTERM', end)
process.on('SIGINT', end)
setInterval(() => {
  if (process.ppid !== parent) end()
}, 500)
