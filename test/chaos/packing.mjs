// Packs the attempts of the sprint that it is given, and kills itself before one of its changes. Started by packing.test.ts; needs dist/.
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

const [sprintDir, iterations, killAt] = process.argv.slice(2)
let changes = 0
const countChanges = (module, names) => {
  for (const name of names) {
    const change = module[name]
    module[name] = (...args) => {
      if (++changes === Number(killAt)) process.kill(process.pid, 'SIGKILL')
      return change(...args)
    }
  }
}
const names = ['mkdir', 'open', 'rename', 'rm', 'rmdir', 'symlink', 'unlink', 'writeFile']
countChanges(
  fs,
  names.map((name) => `${name}Sync`),
)
countChanges(fs.promises, names)
countChanges(fs, ['writeSync', 'fsyncSync', 'fdatasyncSync'])
syncBuiltinESMExports()

const { packAttempts } = await import(new URL('../../dist/storage/sprint/pack-attempts.js', import.meta.url).href)
await packAttempts(sprintDir, { live: [], hookTasks: [], stats: { currentIteration: Number(iterations) } })
