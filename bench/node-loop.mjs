// The minimal loop in Node: starts `claude` the given number of times, one after the other, and reads its lines. The rest of the
// cost of an iteration is Ralph's. A busy machine slows both alike.
import { spawn } from 'node:child_process'
import { once } from 'node:events'

let lines = 0
for (let left = Number(process.argv[2]); left > 0; left--) {
  const child = spawn('claude', ['-p'], { stdio: ['pipe', 'pipe', 'ignore'] })
  child.stdin.end('go on')
  child.stdout.setEncoding('utf8').on('data', (text) => (lines += text.split('\n').length))
  await once(child, 'close')
}
process.exitCode = lines > 0 ? 0 : 1
