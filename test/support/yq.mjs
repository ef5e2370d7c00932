#!/usr/bin/env node
// What yq v4 (github.com/mikefarah/yq) does with the expressions of the seed documents: `.a-b` is one name, not a subtraction as in jq;
// `// x` replaces null; `-i` writes a new file beside the old one and renames it; comments stay. Anything else is refused.
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { parseDocument } from 'yaml'

const { values, positionals } = parseArgs({
  options: { inplace: { type: 'boolean', short: 'i' }, 'unwrap-scalar': { type: 'boolean', short: 'r' } },
  allowPositionals: true,
})
const [expression = '', file = ''] = positionals
const document = parseDocument(readFileSync(file, 'utf8'))

const toPath = (text) => [...text.matchAll(/\.(?:"([^"]+)"|([\w-]+))/g)].map(([, quoted, plain]) => quoted ?? plain)
const path = String.raw`((?:\.(?:"[^"]+"|[\w-]+))+)`
const select = String.raw`${path}\[\] \| select\(\.(\w+) == "([^"]*)"\)`

/** Items of a list whose field has this value, as nodes. */
const selectItems = (list, field, value) =>
  (document.getIn(toPath(list), true)?.items ?? []).filter((item) => item.get(field) === value)

const operations = [
  [
    new RegExp(`^${path} \\+= (\\[.*\\])$`, 's'),
    (list, items) => {
      const known = document.getIn(toPath(list), true)
      for (const item of JSON.parse(items)) known.add(document.createNode(item))
      known.flow = false
      return document
    },
  ],
  [
    new RegExp(`^\\(${select}\\)\\.([\\w-]+) = "([^"]*)"$`),
    (list, field, value, ...change) => {
      const [target, next] = change
      for (const item of selectItems(list, field, value)) item.set(target, next)
      return document
    },
  ],
  [
    new RegExp(`^${path} = "([^"]*)"$`),
    (target, next) => {
      document.setIn(toPath(target), next)
      return document
    },
  ],
  [new RegExp(`^${path} // (.+)$`), (target, other) => document.getIn(toPath(target)) ?? JSON.parse(other)],
  [new RegExp(`^\\[${select}\\] \\| length$`), (list, field, value) => selectItems(list, field, value).length],
  [new RegExp(`^${path}$`), (target) => document.getIn(toPath(target))],
]

for (const [pattern, apply] of operations) {
  const [whole, ...groups] = pattern.exec(expression) ?? []
  if (whole === undefined) continue
  const result = apply(...groups)
  if (values.inplace) {
    writeFileSync(`${file}.yq`, document.toString())
    renameSync(`${file}.yq`, file)
  } else console.log(result === document ? document.toString() : String(result))
  process.exit(0)
}
console.error(`Error: invalid input text ${JSON.stringify(expression)}`)
process.exit(1)
