#!/usr/bin/env node
// What yq v4 (github.com/mikefarah/yq) does with the expressions of the seed documents: `.a-b` is one name, not a subtraction as in jq;
// `// x` replaces null; `-i` writes a new file beside the old one and renames it; comments stay. Anything else is refused.
// test/seeds/yq.test.ts compares it with what yq 4.25.3 printed and wrote.
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
const literal = String.raw`("[^"]*"|\d+|true|false|null)`
const select = String.raw`${path}\[\] \| select\(([^()]*)\)`

/** Items of a list that meet all conditions, as nodes. */
function selectItems(list, conditions) {
  const parsed = conditions.split(' and ').map((condition) => new RegExp(`^${path} == ${literal}$`).exec(condition))
  if (parsed.includes(null)) fail()
  return (document.getIn(toPath(list), true)?.items ?? []).filter((item) =>
    parsed.every(([, field, value]) => item.getIn(toPath(field)) === JSON.parse(value)),
  )
}

function fail() {
  console.error(`Error: invalid input text ${JSON.stringify(expression)}`)
  process.exit(1)
}

const operations = [
  [
    new RegExp(`^${path} \\+= (\\[.*\\])$`, 's'),
    (list, items) => {
      const known = document.getIn(toPath(list), true)
      for (const item of JSON.parse(items)) known.add(document.createNode(item))
      known.flow = false
    },
  ],
  [
    new RegExp(`^\\(${select}\\)${path} = ${literal}$`),
    (list, conditions, ...change) => {
      const [target, next] = change
      for (const item of selectItems(list, conditions)) item.setIn(toPath(target), JSON.parse(next))
    },
  ],
  [new RegExp(`^${path} = ${literal}$`), (target, next) => document.setIn(toPath(target), JSON.parse(next))],
  [new RegExp(`^${path} // (.+)$`), (target, other) => document.getIn(toPath(target)) ?? JSON.parse(other)],
  [new RegExp(`^\\[${select}\\] \\| length$`), (list, conditions) => selectItems(list, conditions).length],
  [
    new RegExp(`^\\[${select}\\]\\[0\\]${path}$`),
    (list, conditions, field) => selectItems(list, conditions)[0]?.getIn(toPath(field)) ?? null,
  ],
  [
    new RegExp(`^${select} \\| @json$`),
    (list, conditions) =>
      selectItems(list, conditions)
        .map((item) => JSON.stringify(item))
        .join('\n'),
  ],
  [new RegExp(`^${path}$`), (target) => document.getIn(toPath(target))],
]

for (const [pattern, apply] of operations) {
  const [whole, ...groups] = pattern.exec(expression) ?? []
  if (whole === undefined) continue
  const result = apply(...groups)
  if (values.inplace) {
    writeFileSync(`${file}.yq`, document.toString())
    renameSync(`${file}.yq`, file)
  } else console.log(String(result))
  process.exit(0)
}
fail()
