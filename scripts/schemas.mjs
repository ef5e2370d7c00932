// Writes the JSON Schemas of the files that users write and read, from the contract. With --check: reports whether they are current.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { Progress } from '../dist/contract/progress.js'
import { UserConfig } from '../dist/contract/settings.js'
import { Sprint } from '../dist/contract/sprint.js'
import { Workflow } from '../dist/contract/workflow.js'

const files = [
  { name: 'sprint.schema.json', title: 'SPRINT.yaml', schema: Sprint },
  { name: 'workflow.schema.json', title: 'Workflow', schema: Workflow },
  { name: 'progress.schema.json', title: 'PROGRESS.yaml', schema: Progress },
  { name: 'config.schema.json', title: '~/.ralph/config.yaml', schema: UserConfig },
]

const check = process.argv.includes('--check')
const stale = []
for (const { name, title, schema } of files) {
  const path = fileURLToPath(new URL(`../schemas/${name}`, import.meta.url))
  const text = `${JSON.stringify(toSchema(schema, name, title), undefined, 2)}\n`
  if (renderSchema(path) === text) continue
  if (check) stale.push(name)
  else writeFileSync(path, text)
}
if (stale.length > 0) {
  console.error(`schemas/ does not match src/contract/ (${stale.join(', ')}); write it again with: npm run generate`)
  process.exitCode = 1
}

/** The file's side of the codecs: kebab-case names, durations as text. Editors support draft 7 best. */
function toSchema(schema, name, title) {
  const { $schema, ...rest } = z.toJSONSchema(schema, { io: 'input', target: 'draft-7' })
  return { $schema, $id: `https://unpkg.com/ralph-mode/schemas/${name}`, title, ...rest }
}

function renderSchema(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
