// What Ralph does with git after an attempt: node commit.mjs <project>. In a process of its own, with the PATH that `npm run` gives.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

const dist = new URL('../../dist/', import.meta.url)
const { openWorkspace } = await import(new URL('storage/git/workspace.js', dist))
const { diffIterations, restoreFiles } = await import(new URL('storage/git/restore.js', dist))
const [, , project] = process.argv
const options = { project, sprintDir: join(project, '.claude/sprints/s1'), sprintId: 's1' }
const workspace = await openWorkspace(options)
await workspace.start()
writeFileSync(join(project, 'package.json'), '{"name":"q"}')
await workspace.fingerprint()
await workspace.checkpoint(1, 'one')
await diffIterations(options, { from: 0, to: 1 })
await restoreFiles(options, { iteration: 0 }, 2)
