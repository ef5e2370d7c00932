import { describe, expect, it } from 'vitest'
import { fillPromptTemplate, parseTemplate } from './template.ts'

const scope = new Map([
  ['item', { id: 'a', 'due-on': 3, done: false, nothing: null, list: ['x'], at: { line: 7 } }],
  ['sprint', { id: 'S' }],
])

function fill(text: string) {
  const unknown: string[] = []
  const filled = fillPromptTemplate(parseTemplate(text), scope, ({ raw }) => unknown.push(raw))
  return { filled, unknown }
}

describe('a template', () => {
  it.each([
    ['{{item.id}}', 'a'],
    ['{{ item.id }}-{{sprint.id}}', 'a-S'],
    ['{{item.due-on}} {{item.done}}', '3 false'],
    ['{{item.at.line}} {{item.at}} {{item.list}}', '7 {"line":7} ["x"]'],
    ['no variables', 'no variables'],
    ['{{{item.id}}}', '{a}'],
    ['{{ }} {{1.x}} {{item.id', '{{ }} {{1.x}} {{item.id'],
    ['$& {{item.id}} $1', '$& a $1'],
    ['', ''],
  ])('%j becomes %j', (text, filled) => {
    expect(fill(text)).toEqual({ filled, unknown: [] })
  })

  it.each([
    ['{{item.nope}}', ''],
    ['{{item.nothing}}', ''],
    ['{{item.id.length}}', ''],
    ['{{item.constructor}}', ''],
    ['{{item.__proto__}}', ''],
    ['{{item}}', '{{item}}'],
    ['{{zzz.q}}', '{{zzz.q}}'],
    ['{{constructor.name}}', '{{constructor.name}}'],
  ])('reports that %s is unknown', (text, filled) => {
    expect(fill(text)).toEqual({ filled, unknown: [text] })
  })

  it('is filled in linear time, whatever it contains', () => {
    const start = performance.now()
    for (const part of ['{{', '{{a', '{{ ', '{{a.', '{{a.b}', '}}']) fill(part.repeat(200_000))

    expect(performance.now() - start).toBeLessThan(2000)
  })
})
