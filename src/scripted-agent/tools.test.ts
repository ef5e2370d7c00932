import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { toolFor, type ToolAction } from './tools.ts'

let cwd = ''
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'scripted-tools-'))
})
afterEach(() => rmSync(cwd, { recursive: true }))

const path = (name: string) => join(cwd, name)
const writeText = (name: string, text: string) => writeFileSync(path(name), text)
const text = (name: string) => readFileSync(path(name), 'utf8')

const use = async (action: ToolAction) => {
  const { name, input, use: useIt } = toolFor(action, cwd)
  return { name, input, ...(await useIt()) }
}

describe('read', () => {
  it('numbers the lines', async () => {
    writeText('a.txt', 'one\ntwo')
    expect(await use({ type: 'read', path: 'a.txt' })).toEqual({
      name: 'Read',
      input: { file_path: path('a.txt') },
      content: '     1\tone\n     2\ttwo',
      isError: false,
    })
  })

  it('fails for a file that does not exist', async () => {
    expect(await use({ type: 'read', path: 'a.txt' })).toMatchObject({
      content: '<tool_use_error>File does not exist.</tool_use_error>',
      isError: true,
    })
  })
})

describe('write', () => {
  it('creates the file and its folders', async () => {
    expect(await use({ type: 'write', path: 'new/a.txt', content: 'hello\n' })).toEqual({
      name: 'Write',
      input: { file_path: path('new/a.txt'), content: 'hello\n' },
      content: `File created successfully at: ${path('new/a.txt')}`,
      isError: false,
    })
    expect(text('new/a.txt')).toBe('hello\n')
  })

  it('fails where no file can exist', async () => {
    writeText('a.txt', '')
    expect(await use({ type: 'write', path: 'a.txt/b.txt', content: '' })).toMatchObject({ isError: true })
  })
})

describe('edit', () => {
  const edit = { type: 'edit', path: 'a.txt', from: 'two', to: '$& and $1' } as const

  it('replaces the text, whatever it contains', async () => {
    writeText('a.txt', 'one two three')
    expect(await use(edit)).toEqual({
      name: 'Edit',
      input: { file_path: path('a.txt'), old_string: 'two', new_string: '$& and $1' },
      content: `The file ${path('a.txt')} has been updated.`,
      isError: false,
    })
    expect(text('a.txt')).toBe('one $& and $1 three')
  })

  it.each([
    ['is not there', 'one', 'String to replace not found in file.\nString: two'],
    ['is there twice', 'two two', 'Found 2 matches of the string to replace.\nString: two'],
  ])('changes nothing if the text %s', async (_, before, reason) => {
    writeText('a.txt', before)
    expect(await use(edit)).toMatchObject({ content: `<tool_use_error>${reason}</tool_use_error>`, isError: true })
    expect(text('a.txt')).toBe(before)
  })
})

describe('run and delete', () => {
  it('run a command in the project', async () => {
    writeText('a.txt', 'hello')
    expect(await use({ type: 'run', command: 'cat a.txt; echo " and errors" >&2' })).toEqual({
      name: 'Bash',
      input: { command: 'cat a.txt; echo " and errors" >&2' },
      content: 'hello and errors\n',
      isError: false,
    })
  })

  it('report the exit code of a failing command', async () => {
    expect(await use({ type: 'run', command: 'echo oops; exit 3' })).toMatchObject({
      content: 'Exit code 3\noops',
      isError: true,
    })
  })

  it('do not wait for background processes', async () => {
    expect(await use({ type: 'run', command: 'sleep 3 & echo started' })).toMatchObject({ content: 'started\n' })
  }, 2000)

  it('delete a file with any name', async () => {
    writeText("it's a.txt", '')
    expect(await use({ type: 'delete', path: "it's a.txt" })).toMatchObject({ name: 'Bash', isError: false })
    expect(existsSync(path("it's a.txt"))).toBe(false)
  })
})
